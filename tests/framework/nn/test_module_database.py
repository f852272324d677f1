"""The modules of PyTorch's own module database with their own inputs: values, gradients, start weights, state and refusals."""

import copy
import warnings

import pytest
import torch
import weir
from torch.testing._internal.common_modules import ModuleErrorEnum, module_db
from twins import assert_close, to_weir

warnings.simplefilter("ignore")
INFOS = {info.name.removeprefix("nn."): info for info in module_db}


def converted(value):
    """Arguments of a module for weir: modules rebuilt with the same weights, functions by their names."""
    if isinstance(value, torch.nn.TransformerEncoderLayer):
        made = weir.nn.TransformerEncoderLayer(
            value.self_attn.embed_dim, value.self_attn.num_heads, value.linear1.out_features, value.dropout.p,
            converted(value.activation), value.norm1.eps, value.self_attn.batch_first, value.norm_first,
            value.linear1.bias is not None, dtype=to_weir(value.linear1.weight.dtype))
        made.load_state_dict(to_weir(value.state_dict()))
        return made
    if isinstance(value, torch.nn.Module):
        raise NotImplementedError(f"a rule to rebuild {type(value).__name__}")
    if isinstance(value, torch.device):
        return weir.device(str(value))
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):
        return weir.nn.utils.rnn.PackedSequence(*(None if t is None else to_weir(t) for t in value))
    if isinstance(value, dict):
        return {key: converted(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(converted(item) for item in value)
    if callable(value) and hasattr(weir.nn.functional, getattr(value, "__name__", "")):
        return getattr(weir.nn.functional, value.__name__)
    return to_weir(value)


def flat(value):
    """All tensors of a nest of containers."""
    if isinstance(value, (torch.Tensor, weir.Tensor)):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [t for part in parts for t in flat(part)]


def close(actual, expected, what):
    """Nearly equal, as seen from the largest number: gradients sum many terms of that size."""
    for a, e in zip(actual, expected, strict=True):
        rough = e.dtype not in (torch.float64, torch.int64)
        largest = float(e.detach().abs().double().max()) if e.numel() else 0.0
        largest = largest if largest < float("inf") else 1.0
        assert_close(a, e, rtol=1e-4 if rough else 1e-7, atol=(1e-6 if rough else 1e-11) * max(largest, 1.0), what=what)


def twins(info, sample, dtype):
    args, kwargs = sample.constructor_input.args, sample.constructor_input.kwargs
    for options in ({"dtype": dtype}, {}):
        torch.manual_seed(1), weir.manual_seed(1)
        try:
            theirs = info.module_cls(*args, **{**kwargs, **options})
        except TypeError:
            continue
        return getattr(weir.nn, info.module_cls.__name__)(*converted(args), **converted({**kwargs, **options})), theirs
    raise AssertionError("PyTorch builds none")


def check_state(ours, theirs):
    own, state = ours.state_dict(), theirs.state_dict()
    assert list(own) == list(state)
    for key, value in state.items():
        close([own[key]], [value], f"start value of {key}")
    ours.load_state_dict(to_weir(state))
    theirs.load_state_dict({key: torch.from_numpy(value.numpy()) for key, value in ours.state_dict().items()})


def check_call(ours, theirs, sample):
    args, kwargs = sample.forward_input.args, sample.forward_input.kwargs
    own_args, own_kwargs = converted(args), converted(kwargs)
    torch.manual_seed(2), weir.manual_seed(2)
    expected, actual = flat(theirs(*args, **kwargs)), flat(ours(*own_args, **own_kwargs))
    close(actual, expected, "result")
    if any(t.dtype == torch.float32 for t in expected):
        return  # gradients that cancel, as those of norms, are compared in float64
    want, got = ([t for t in results if t.requires_grad] for results in (expected, actual))
    assert len(got) == len(want), "results that require grad"
    if not want:
        return
    sum((t.abs() ** 2).sum() for t in want).backward(), sum((t.abs() ** 2).sum() for t in got).backward()
    for a, e in zip(flat([own_args, own_kwargs]), flat([args, kwargs]), strict=True):
        if e.is_leaf and e.grad is not None:
            close([a.grad], [e.grad], "gradient of an input")
    for (name, a), e in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert (a.grad is None) == (e.grad is None), name
        if e.grad is not None:
            close([a.grad], [e.grad], f"gradient of {name}")


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", INFOS)
def test_module(name, dtype, training):
    if name.startswith("Fractional") and dtype == torch.float32:
        pytest.skip("the database gives samples of float64, which both refuse")
    info = INFOS[name]
    torch.manual_seed(0)
    for sample in info.module_inputs_func(info, "cpu", dtype, True, training):
        sample = copy.copy(sample)
        ours, theirs = twins(info, sample, dtype)
        assert repr(ours) == repr(theirs)
        lazy = name.startswith("Lazy")
        if not lazy:
            check_state(ours, theirs)
        ours.train(training), theirs.train(training)
        check_call(ours, theirs, sample)
        assert type(ours).__name__ == type(theirs).__name__
        if lazy:
            check_state(ours, theirs)


@pytest.mark.parametrize("name", [name for name, info in INFOS.items() if info.module_error_inputs_func])
def test_refusals(name):
    info = INFOS[name]
    for case in info.module_error_inputs_func(info, "cpu", torch.float64, True, True):
        constructor, call = case.module_error_input.constructor_input, case.module_error_input.forward_input
        with pytest.raises(case.error_type):
            module = getattr(weir.nn, info.module_cls.__name__)(*converted(constructor.args), **converted(constructor.kwargs))
            if case.error_on is not ModuleErrorEnum.CONSTRUCTION_ERROR:
                module(*converted(call.args), **converted(call.kwargs))
