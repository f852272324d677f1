"""Forms of everyday calls in which weir once differed from PyTorch: values, dtypes and strides, or the class of the error.

Operators beside numbers and arrays (framework/binding/operators.cpp) are among them.
"""

import collections
import copy
import pickle
import warnings

import numpy as np
import pytest
import torch
import weir

NAN = float("nan")


def written(tensor, index, value):
    tensor[index] = value
    return tensor


def into_part(t, name, *args, dtype="float64"):
    """What out= of a part of a larger tensor leaves in the whole of it."""
    whole = t.zeros(2, 3, dtype=getattr(t, dtype))
    getattr(t, name)(*args, out=whole.narrow(1, 1, 2))
    return whole


class Unknown:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise TypeError


def with_mask(t, call):
    truths = t.tensor([True, False, True, False])
    call(truths)
    return truths


FORMS = {
    # a limit that is NaN
    "clamp by NaN above": lambda t: t.clamp(t.ones(3), None, NAN), "clamp by NaN below": lambda t: t.ones(3).clamp(NAN),
    "clamp of integers by NaN": lambda t: t.arange(3).clamp(0, NAN), "clamp of NaN": lambda t: t.tensor([NAN, 2.0]).clamp(0, 1),
    # truth is no number
    "dim of truth": lambda t: t.ones(2).unsqueeze(True), "dims of truth": lambda t: t.ones(2, 3).sum((True,)), "k of truth": lambda t: t.ones(2, 3).topk(True),
    "size of truth": lambda t: t.zeros((True, 2)), "second size of truth": lambda t: t.zeros((2, True)), "one size of truth": lambda t: t.ones(2, 2).size(True),
    "count of truth": lambda t: t.randperm(True), "bool of NumPy": lambda t: t.ones(2, 2).unsqueeze(np.bool_(True)), "int of NumPy": lambda t: t.ones(2, 2).unsqueeze(np.int64(1)),
    "step of truth": lambda t: t.conv1d(t.ones(1, 1, 4), t.ones(1, 1, 2), stride=True),
    # out= of a part
    "range into a part": lambda t: into_part(t, "range", 0, 3), "arange into a part": lambda t: into_part(t, "arange", 0, 0.4, 0.1),
    "linspace into a part": lambda t: into_part(t, "linspace", 0.1, 3, 4), "logspace into a part": lambda t: into_part(t, "logspace", 0, 3, 4),
    "linspace of another size": lambda t: t.linspace(0, 3, 4, out=t.zeros(7, dtype=t.int64)),
    "arange of another dtype": lambda t: t.arange(4, out=t.zeros(4, dtype=t.float64), dtype=t.float32),
    # writing at indices
    "integers at indices of floats": lambda t: written(t.ones(4), t.tensor([1]), t.tensor([2])), "a number at indices": lambda t: written(t.ones(4), t.tensor([1]), 2),
    "an integer where a mask holds": lambda t: written(t.ones(4), t.ones(4) > 0, t.tensor(2)), "integers where a mask holds": lambda t: written(t.ones(4), t.ones(4) > 0, t.arange(4)),
    "a complex number where a mask holds": lambda t: written(t.ones(4), t.ones(4) > 0, t.tensor(2j)), "leading ones": lambda t: written(t.ones(4), t.tensor([1, 2]), t.zeros(1, 1, 2)),
    "a number where bytes hold": lambda t: written(t.ones(3), t.ones(3, dtype=t.uint8), 2.0), "a number where bytes of another shape hold": lambda t: written(t.ones(3), t.ones(2, dtype=t.uint8), 2.0), "numbers where bytes hold": lambda t: written(t.ones(3), t.ones(3, dtype=t.uint8), t.zeros(3)),
    "rows where bytes hold": lambda t: t.arange(6).view(3, 2)[t.tensor([1, 0, 1], dtype=t.uint8)],
    # arrays of NumPy beside tensors
    **{f"array {name}": lambda t, f=f: f(t.arange(3), np.arange(1, 4)) for name, f in {
        "added": lambda a, b: a + b, "added to": lambda a, b: b + a, "divided by": lambda a, b: a / b, "less": lambda a, b: a < b, "equal": lambda a, b: a == b, "unequal": lambda a, b: a != b, "equal to names": lambda a, b: a == b.astype(str),
        "of": lambda a, b: b - a, "matmul": lambda a, b: a @ b}.items()},
    "array of one": lambda t: t.ones(2) * np.array(2.0), "array into": lambda t: t.ones(2).__iadd__(np.ones(2)) is NotImplemented,
    # factors
    "truth as a factor": lambda t: t.add(t.ones(2), t.ones(2), alpha=True), "truth as a factor of truths": lambda t: t.add(t.tensor(True), t.tensor(True), alpha=True),
    "a module before the first": lambda t: len(t.nn.Sequential(t.nn.ReLU()).insert(0, t.nn.Tanh())), "a module beyond the last": lambda t: t.nn.Sequential().insert(2, t.nn.Tanh()),
    "a word for a submodule": lambda t: t.nn.Sequential(t.nn.ReLU()).set_submodule("0", "x"), "parameters from numbers": lambda t: t.nn.ParameterDict().update([1]),
    "parameters from a matrix": lambda t: t.nn.ParameterDict().update(t.nn.Parameter(t.ones(3, 3))),
    "a margin loss of one example": lambda t: t.nn.functional.multi_margin_loss(t.arange(4.0), t.tensor([1]), reduction="none"),
    "a window longer than memory": lambda t: t.nn.functional.max_pool2d(t.ones(1, 4, 4), 2**62), "a stride longer than memory": lambda t: t.nn.functional.avg_pool2d(t.ones(1, 4, 4), 2, 2**62),
    "a fraction as a factor of integers": lambda t: t.add(t.arange(2), t.arange(2), alpha=1.5), "a complex factor": lambda t: t.sub(t.ones(2), t.ones(2), alpha=1j),
    # sizes
    "a view of one pair": lambda t: t.view_as_complex(t.ones(6, 2, 1).transpose(1, 2).contiguous()), "shapes of negative sizes": lambda t: t.broadcast_shapes((1, -12), (3,)),
    "a number that is no shape": lambda t: t.broadcast_shapes((1, 2), 1.5), "a shape that is None": lambda t: t.broadcast_shapes((1, 2), None),
    "a grid on two devices": lambda t: t.meshgrid(t.ones(1), t.ones(1, device="meta"), indexing="ij"), "a wide range": lambda t: t.empty(3).uniform_(-3e38, 3e38),
    "a wide range of halves": lambda t: t.empty(3, dtype=t.float16).uniform_(-65504, 65504), "a number of NumPy's without a copy": lambda t: t.asarray(np.float64(0.5), copy=False),
    "a sequence of which no element is known": lambda t: t.tensor(Unknown()), "a count of threads beyond 64 bits": lambda t: t.set_num_threads(2**65),
    "a fraction of threads": lambda t: t.set_num_threads(1.5), "a count of threads between calls": lambda t: t.set_num_interop_threads(2**65),
    "a fraction of threads between calls": lambda t: t.set_num_interop_threads(1.5), "a mask shifted in what it fills": lambda t: with_mask(t, lambda m: m[1:].masked_fill_(m[:-1], False)),
    "a mask shifted in what is set": lambda t: with_mask(t, lambda m: written(m[1:], m[:-1], False)), "a mask that is what it fills": lambda t: with_mask(t, lambda m: m.masked_fill_(m, False)),
    "map2_ of what requires grad": lambda t: t.ones(2).map2_(t.ones(2), t.ones(2, requires_grad=True), lambda a, b, c: a), "map_ of another dtype": lambda t: t.ones(2).map_(t.ones(2).int(), lambda a, b: a),
    "strides too large": lambda t: t.empty(0).resize_([0, 4, 2**61]), "empty strides too large": lambda t: t.empty([0, 4, 2**61]),
    **{f"resized to {format} of {n} axes": lambda t, format=format, n=n: t.ones(2).resize_((2, 3, 4, 5, 6)[:n], memory_format=getattr(t, format)).stride()
       for format in ("channels_last", "channels_last_3d", "contiguous_format", "preserve_format") for n in (3, 4, 5)},
    **{f"resized as {format}": lambda t, format=format, n=n: t.ones(2).resize_as_(t.ones((2, 3, 4, 5, 6)[:n]).contiguous(memory_format=getattr(t, format)),
                                                                                  memory_format=t.preserve_format).stride()
       for format, n in (("channels_last", 4), ("channels_last_3d", 5), ("contiguous_format", 4), ("contiguous_format", 2))},
    # names
    "randint by names": lambda t: t.randint(high=3, size=(2,)).shape, "randint of one bound": lambda t: t.randint(3, size=(2,)).shape, "randint of nothing": lambda t: t.randint(size=(2,)),
    "unravelled floats": lambda t: t.unravel_index(t.tensor(0.5), (2, 2)), "unravelled into a tensor": lambda t: t.unravel_index(t.tensor([1]), t.tensor([2, 2])),
    "unravelled into fractions": lambda t: t.unravel_index(t.tensor([1]), (2, 3.0)), "unravelled": lambda t: t.unravel_index(t.tensor([5]), (2, 3)),
    "no buffer": lambda t: t.frombuffer([1, 2], dtype=t.int64), "an array of a capsule": lambda t: t.asarray(t.utils.dlpack.to_dlpack(t.arange(3))),
    "a check for a package in a package that is missing": lambda t: t.utils._import_utils._check_module_exists("no_such_package.inside"),
    "all modules": lambda t: sorted(t.nn.modules.__all__),
    # memory
    "a copy over a part of itself": lambda t: (lambda x: x[:5].copy_(x[1:6]))(t.arange(10)), "a copy over itself": lambda t: (lambda x: x[:5].copy_(x[:5]))(t.arange(10)),
    "copies that share memory": lambda t: shared_copies(t), "a storage that grows": lambda t: (lambda x: x.set_(x.untyped_storage(), 2, t.Size([2, 3])).stride())(t.ones(1)),
    "a storage of big bytes": lambda t: quietly(lambda: t.FloatStorage.from_buffer(bytearray([0x40, 0x10, 0, 0]), "big").tolist()),
    "a storage of another type": lambda t: quietly(lambda: t.IntStorage([1, 2]).float().type()), "a storage swapped": lambda t: swapped(t),
    # subclasses, generators, types
    "a gradient through as_subclass": lambda t: through_subclass(t), "seeds below zero": lambda t: t.Generator().manual_seed(-5).initial_seed(),
    "seeds too large": lambda t: t.manual_seed(2**64), "seeds of no number": lambda t: t.Generator().manual_seed(1.5), "a generator elsewhere": lambda t: t.Generator("opengl"),
    "a generator's state": lambda t: t.Generator().manual_seed(3).get_state(), "a pickled generator": lambda t: pickle.loads(pickle.dumps(t.Generator().manual_seed(3))).initial_seed(),
    "scrambled points": lambda t: t.quasirandom.SobolEngine(3, scramble=True, seed=5).draw(9), "points of the default generator": lambda t: t.quasirandom.SobolEngine(2, scramble=True).draw(3),
    "a tensor's own new": lambda t: t.ones(2).new(size=(3, 4)).shape, "a type of all": lambda t: t.ones(2).int().type(t.Tensor).dtype.itemsize,
    "a type of Python": lambda t: t.ones(2).type(float), "a size and a stranger": lambda t: t.Size([1]) + Stranger(), "names of letters": lambda t: t.arange(3).apply_(lambda x: "a"),
    "a meta number as text": lambda t: format(t.empty((), device="meta")), "an order that is not the only one": lambda t: t.empty(2, 1, 2).dim_order(ambiguity_check=True),
    "a device of a number": lambda t: t.device(-1), "a mode of nothing": lambda t: t.set_deterministic_debug_mode(None),
    "an initial value under its old name": lambda t: t.nn.init.ones_(t.empty(2)) if t.nn.init.constant(t.empty(2), 1.0).sum() == 2 else None,
    **{f"{name} of {n} axes": lambda t, name=name, n=n: getattr(t.nn.functional, name)(t.ones((2,) * n)).shape
       for name, axes in {"dropout1d": (2, 4), "dropout2d": (2, 3, 4, 5), "dropout3d": (3, 4, 5, 6)}.items() for n in axes},
    # hooks and functions of modules
    "a hook that is always called and fails": lambda t: always_called(t), "a named tuple through a backward hook": lambda t: type(named(t)).__name__,
    "a hook on state that returns": lambda t: state_hook(t), "a hook taken off": lambda t: taken_off(t),
    "a call with an attribute": lambda t: t.func.functional_call(Adds(t), {"extra": t.ones(2), "unknown": t.ones(1)}, t.ones(2)),
    "a call of a module that is not there": lambda t: t.func.functional_call(t.nn.Linear(2, 2), {"inner.weight": t.ones(2, 2)}, t.ones(2)),
    "a call with what is no tensor": lambda t: t.func.functional_call(t.nn.Linear(2, 2), {"weight": 3}, t.ones(2)),
    "a call with a number's place": lambda t: t.func.functional_call(t.nn.Dropout(0.5), {"p": t.ones(1)}, t.ones(2)),
    "a complex weight made orthogonal": lambda t: t.nn.utils.parametrizations.orthogonal(t.nn.Linear(3, 3, dtype=t.complex64)).weight.shape,
}


class Stranger:
    def __radd__(self, other):
        return 42


def quietly(call):
    """For typed storages, which PyTorch says at each use that it will remove."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def swapped(t):
    storage = t.UntypedStorage(list(range(8)))
    storage.byteswap(t.int32)
    return storage.tolist()


def shared_copies(t):
    whole = t.arange(6.0)
    first, part, turned, storage = copy.deepcopy([whole, whole[1:], whole.view(2, 3).t(), whole.untyped_storage()])
    first.add_(1)
    return part, turned, storage.tolist(), whole


def through_subclass(t):
    x = t.tensor([1.0, 2.0], requires_grad=True)
    (x.as_subclass(type("Sub", (t.Tensor,), {})) * 3).sum().backward()
    return x.grad


def always_called(t):
    module, seen = t.nn.Linear(2, 2), []

    def fails(*args):
        raise ValueError("second")
    module.register_forward_hook(fails, always_call=True)
    module.register_forward_hook(lambda *args: seen.append(1), always_call=True)
    try:
        module(t.ones(3))
    except Exception as error:
        return type(error).__name__, seen


def named(t):
    pair = collections.namedtuple("Pair", "first second")

    class Two(t.nn.Module):
        def forward(self, x):
            return pair(x * 2, x * 3)
    module = Two()
    module.register_full_backward_hook(lambda *args: None)
    return module(t.ones(2, requires_grad=True))


def state_hook(t):
    module = t.nn.Linear(1, 1)
    module.register_state_dict_post_hook(lambda *args: {})
    return module.state_dict()


def taken_off(t):
    module = t.nn.ReLU()
    handle = module.register_forward_hook(print)
    before = len(handle.hooks_dict_ref())
    handle.remove()
    return before, len(handle.hooks_dict_ref()), len(module._forward_hooks)


def Adds(t):
    class Adds(t.nn.Module):
        def forward(self, x):
            return x + self.extra
    return Adds()


def outcome(form, t):
    t.manual_seed(1)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        try:
            result = form(t)
        except Exception as error:
            result = type(error).__name__
    return described(result), sum(issubclass(w.category, UserWarning) for w in shown)


def described(value):
    if hasattr(value, "stride"):
        return str(value.dtype), tuple(value.shape), value.stride(), str(value.tolist())
    return tuple(map(described, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_calls_are_pytorchs(name):
    assert outcome(FORMS[name], weir) == outcome(FORMS[name], torch)


def test_warnings_that_come_once_come_each_time_where_asked():
    def shown():
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            weir.meshgrid(weir.ones(2))
        return len(seen)

    shown()  # the first of this process, perhaps
    assert shown() == 0
    weir.set_warn_always(True)
    try:
        assert shown() == shown() == 1
    finally:
        weir.set_warn_always(False)


def test_a_warning_may_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="uint8"):
            weir.ones(2)[weir.ones(2, dtype=weir.uint8)]


def all_warnings(form, t):
    """Classes of the warnings, where each text is said each time."""
    t.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            form(t)
    finally:
        t.set_warn_always(False)
    return sorted(kind for kind, _ in {(w.category.__name__, str(w.message)) for w in shown})


WARNED = {
    "complex numbers as real ones": lambda t: t.ones(2, dtype=t.complex64).float(), "their truth": lambda t: t.ones(2, dtype=t.complex64).bool(),
    "no complex numbers as real ones": lambda t: t.ones(0, dtype=t.complex64).float(), "a real sum of complex numbers": lambda t: t.ones(2, dtype=t.complex64).sum(dtype=t.float64),
    "complex numbers into real ones": lambda t: t.ones(2).copy_(t.ones(2, dtype=t.complex64)), "a complex half": lambda t: t.ones(2).chalf(),
    "out= that grows": lambda t: t.add(t.ones(2), 1, out=t.ones(3)), "out= of nothing": lambda t: t.add(t.ones(2), 1, out=t.ones(0)), "out= of a factory": lambda t: t.zeros(2, out=t.ones(3)),
    "two out=": lambda t: t.sort(t.ones(2), out=(t.ones(3), t.ones(3, dtype=t.int64))), "a deviation of one": lambda t: t.std(t.ones(1)), "of two": lambda t: t.std(t.ones(2)),
    "a variance of none": lambda t: t.var(t.ones(2, 0), 0), "a covariance of one": lambda t: t.cov(t.ones(2, 1)), "old qr": lambda t: t.qr(t.eye(2)), "old cholesky": lambda t: t.cholesky(t.eye(2)),
    "a fill of repeated elements": lambda t: t.ones(1).expand(2).masked_fill_(t.ones(2) > 0, 2),
    "a vector turned": lambda t: t.ones(2).T, "a matrix turned": lambda t: t.ones(2, 2).T, "a number turned": lambda t: t.tensor(1.0).mT, "an adjoint number": lambda t: t.tensor(1.0).adjoint(),
    "no window": lambda t: t.stft(t.ones(8), 4, return_complex=True), "a tensor of a tensor": lambda t: t.tensor(t.ones(2)), "alpha by place": lambda t: t.add(t.ones(2), 2, 3), "rsub by place": lambda t: t.rsub(t.ones(2), 2, 3),
    "no axis": lambda t: t.nn.functional.softmax(t.ones(2)), "no corners": lambda t: t.nn.functional.grid_sample(t.ones(1, 1, 2, 2), t.zeros(1, 1, 1, 2)), "size_average": lambda t: t.nn.functional.mse_loss(t.ones(2), t.ones(2), size_average=True),
    "an index in a list": lambda t: t.ones(3, 4)[[slice(0, 1), 0]], "a product of lines": lambda t: t.cartesian_prod(t.ones(2), t.ones(2)), "a cross product": lambda t: t.cross(t.ones(3), t.ones(3)),
    "padding of even kernels": lambda t: t.conv1d(t.ones(1, 1, 5), t.ones(1, 1, 2), padding="same"), "places in a turned matrix": lambda t: t.bucketize(t.ones(3, 2).t(), t.ones(2)),
    "a graph of gradients": lambda t: (t.ones((), requires_grad=True) * 1).backward(create_graph=True), "a whole number that requires grad": lambda t: int(t.ones((), requires_grad=True)),
    "a reduced scatter": lambda t: t.scatter(t.ones(2), 0, t.tensor([0]), t.ones(1), reduce="add"), "a resize": lambda t: t.ones(2, 1).resize(1, 2), "an old norm": lambda t: t.nuclear_norm(t.ones(2, 2)),
    "a reduction at indices": lambda t: t.index_reduce(t.ones(2), 0, t.tensor([0]), t.ones(1), "mean"), "a weight of another dtype": lambda t: t.rms_norm(t.ones(1), (1,), t.ones(1, dtype=t.float64)),
}


@pytest.mark.parametrize("name", WARNED)
def test_warnings_are_pytorchs(name):
    assert all_warnings(WARNED[name], weir) == all_warnings(WARNED[name], torch)


NUMBERS = {
    "an axis of one element": lambda t: t.ones(2).unsqueeze(t.tensor([0])), "an axis without axes": lambda t: t.ones(2).unsqueeze(t.tensor(0)), "a step of one element": lambda t: t.slice_scatter(t.ones(2), t.ones(2), step=t.tensor([1])),
    "an axis too large": lambda t: t.ones(2).cumsum(2**70), "axes too large": lambda t: t.ones(2).flip([2**70]), "a factor too large": lambda t: t.add(t.ones(2), t.ones(2), alpha=2**70),
    "a tolerance of one element": lambda t: t.isclose(t.ones(2), t.ones(2), t.tensor([1.0])), "a tolerance without axes": lambda t: t.isclose(t.ones(2), t.ones(2), t.tensor(1.0)),
    "a range of NumPy's": lambda t: t.arange(np.int64(2)), "a range of NumPy's floats": lambda t: t.arange(np.float64(2)), "copy by a number": lambda t: t.ones(2).to(t.float64, copy=1),
    "random numbers of another dtype": lambda t: t.randn(2, dtype=t.float32, out=t.ones(2, dtype=t.float64)), "whole random numbers": lambda t: t.randn(2, out=t.ones(2, dtype=t.int64)),
    "frequencies into a tensor": lambda t: t.fft.fftfreq(2, out=t.ones(2)), "a window into a tensor": lambda t: t.hann_window(2, out=t.ones(2)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_taken_as_pytorch_takes_them(name):
    assert outcome(NUMBERS[name], weir)[0] == outcome(NUMBERS[name], torch)[0]
