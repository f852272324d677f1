"""Methods of PyTorch's classes take their arguments by the same names in the same places, private ones too: libraries override and call them."""
import importlib
import inspect

import pytest
import weir

PYTORCH = pytest.importorskip("torch")
MODULES = ["nn", "nn.modules.module", "nn.modules.conv", "nn.modules.lazy", "nn.modules.batchnorm", "nn.modules.pooling", "optim", "optim.lr_scheduler",
           "optim.swa_utils", "distributions", "distributions.transforms", "distributions.constraints", "utils.data", "utils.data.dataloader",
           "nn.utils.prune", "amp", "autograd", "autograd.graph", "autograd.profiler", "autograd.profiler_util", "profiler"]
# PyTorch's raise NotImplementedError in bases that are never called, `_BaseDataLoaderIter` knows in itself whether it is the first pass, and one profile
# stands for PyTorch's two.
OTHERWISE = {("RNNBase", "forward"), ("_ConvNd", "forward"), ("_ConvTransposeNd", "forward"), ("_LPPoolNd", "forward"), ("_MaxPoolNd", "forward"),
             ("_BaseDataLoaderIter", "_reset"), ("_SingleProcessDataLoaderIter", "_reset"), ("_MultiProcessingDataLoaderIter", "_reset"),
             ("profile", "export_chrome_trace")}


def parameters(method):
    """Names in order, or None where any number is taken or nothing is known (methods written in C)."""
    try:
        found = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in found):
        return None
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


@pytest.mark.parametrize("name", MODULES)
def test_methods_take_arguments_as_pytorchs_do(name):
    ours, theirs = (vars(importlib.import_module(f"{root}.{name}")) for root in ("weir", "torch"))
    differ = {}
    for cls in theirs.keys() & ours.keys():
        if not inspect.isclass(theirs[cls]) or not inspect.isclass(ours[cls]) or issubclass(ours[cls], weir.Tensor):
            continue
        for method in dir(theirs[cls]):
            pair = [getattr(c[cls], method, None) for c in (ours, theirs)]
            if method.startswith("__") or (cls, method) in OTHERWISE or not all(map(callable, pair)):
                continue
            takes, expected = map(parameters, pair)
            if takes is not None and expected is not None and takes != expected:
                differ[cls, method] = takes, expected
    assert not differ


def rates(t):
    """As libraries that lower the rates of their own groups do."""
    seen = []
    scheduler = t.optim.lr_scheduler.ReduceLROnPlateau(t.optim.SGD([t.ones(1, requires_grad=True)], 1.0), patience=0)
    scheduler._reduce_lr = lambda epoch: seen.append(epoch)
    for metric in (1.0, 2.0, 3.0):
        scheduler.step(metric)
    return seen


def padding_of_a_layer(t):
    """As layers whose weight is drawn in every pass do."""
    class Own(t.nn.ConvTranspose2d):
        def forward(self, x, output_size=None):
            padding = self._output_padding(x, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation)
            return list(padding), list(super()._output_padding(x, output_size, [2, 2], [0, 0], [3, 3], num_spatial_dims=2))
    layer = Own(1, 1, 3, stride=2, dilation=2)
    return layer(t.ones(1, 1, 4, 4)), list(t.nn.ConvTranspose2d._output_padding(layer, t.ones(1, 1, 4, 4), [12, 12], [2, 2], [0, 0], [3, 3], 2, [2, 2]))


def overridden_padding(t):
    class Own(t.nn.ConvTranspose1d):
        def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
            return [1] if (list(stride), list(padding), list(kernel_size), num_spatial_dims, list(dilation)) == ([2], [0], [3], 1, [1]) else [0]
    return list(Own(1, 1, 3, stride=2)(t.ones(1, 1, 4)).shape)


def tables(t):
    weight = t.arange(6.0).reshape(3, 2)
    rows = t.nn.Embedding.from_pretrained(weight, False, 1, None, 2.0, False, True)
    bags = t.nn.EmbeddingBag.from_pretrained(weight, True, None, 2.0, False, "sum")
    return rows.padding_idx, rows.sparse, rows.weight.requires_grad, bags.mode, bags.weight.requires_grad, bags(t.tensor([[0, 2]])).tolist()


def sequence(t):
    return len(t.nn.Sequential(t.nn.ReLU()).extend(sequential=[t.nn.ReLU()]))


@pytest.mark.parametrize("program", [rates, padding_of_a_layer, overridden_padding, tables, sequence], ids=lambda f: f.__name__)
def test_programs_call_and_override_methods_as_in_pytorch(program):
    assert program(weir) == program(PYTORCH)


@pytest.mark.parametrize("wrong", [lambda t: t.optim.lr_scheduler.ReduceLROnPlateau([]),
                                   lambda t: t.nn.ConvTranspose2d(1, 1, 3)(t.ones(1, 1, 4, 4), [5]),
                                   lambda t: t.nn.ConvTranspose2d(1, 1, 3)(t.ones(1, 1, 4, 4), [5, 5])])
def test_wrong_arguments_of_methods_are_refused_in_pytorchs_words(wrong):
    told = []
    for t in (weir, PYTORCH):
        with pytest.raises((TypeError, ValueError)) as error:
            wrong(t)
        told.append((error.type, str(error.value).replace("weir", "torch")))
    assert told[0] == told[1]
