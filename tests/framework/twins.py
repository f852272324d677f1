"""weir and its oracle side by side: the same values in both, and comparisons between them."""

import collections
import operator
from pathlib import Path

import numpy as np
import torch
import weir

#: What Linux says of the processor: its maker and flags, for tests of what is another elsewhere.
CPU = Path("/proc/cpuinfo").read_text()

#: The integers whose bits stand for dtypes that NumPy lacks.
_BITS = {torch.bfloat16: torch.int16, torch.complex32: torch.int32,
         **{getattr(torch, name): torch.uint8 for name in dir(torch) if name.startswith("float8")}}


def to_weir(value):
    """A torch value as a weir one: tensors copied, containers kept."""
    if isinstance(value, torch.Tensor):
        value_bits = value.detach().resolve_conj().resolve_neg().contiguous()
        value_bits = value_bits.view(_BITS[value.dtype]) if value.dtype in _BITS else value_bits
        t = weir.from_numpy(np.array(value_bits.numpy(), order="C")).view(to_weir(value.dtype))
        return t.requires_grad_(value.requires_grad) if value.is_floating_point() else t
    if isinstance(value, torch.dtype | torch.memory_format):
        return getattr(weir, str(value).split(".")[1])
    if isinstance(value, collections.abc.Mapping):
        return {k: to_weir(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(to_weir(v) for v in value)
    return value


def op_named(name):
    """weir's function, or method of Tensor, of a name of PyTorch's op database; None where there is none."""
    for at in (name, f"Tensor.{name}"):
        try:
            return operator.attrgetter(at)(weir)
        except AttributeError:
            continue
    return None


def to_numpy(t):
    """The values of a tensor of either framework; those of dtypes that NumPy lacks as float32 or complex64."""
    t = t.detach()
    if str(t.dtype).removeprefix("torch.").startswith(("bfloat16", "float8", "complex32")):
        t = t.cfloat() if t.is_complex() else t.float()
    return t.numpy(force=True)


def assert_close(actual, expected, rtol=1e-4, atol=1e-5, what=""):
    """Same structure, shapes, dtypes and nearly the same values."""
    if isinstance(expected, torch.Tensor):
        assert tuple(actual.shape) == tuple(expected.shape), what
        assert str(actual.dtype) == str(expected.dtype), what
        np.testing.assert_allclose(to_numpy(actual), to_numpy(expected), rtol, atol, err_msg=what)
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected), what
        for a, e in zip(actual, expected):
            assert_close(a, e, rtol, atol, what)
    elif isinstance(expected, float):
        np.testing.assert_allclose(actual, expected, rtol, atol, err_msg=what)
    else:
        assert actual == expected, what


def floats(result):
    """The differentiable tensors of a result of either framework."""
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [p for p in parts if hasattr(p, "requires_grad") and p.requires_grad]


def copy_state(source, target):
    """Loads a torch module's state into a weir module."""
    target.load_state_dict(to_weir(source.state_dict()))


def assert_same(call, *inputs, strides=True, order=2, rtol=1e-4, atol=1e-5, what=""):
    """call(framework, *inputs) gives in weir what it gives in torch: the error's type, or values, dtypes, shapes and strides, and
    gradients up to `order` with respect to the inputs that require them."""
    expected, actual = _called(torch, call, inputs), _called(weir, call, to_weir(inputs))
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert type(actual).__name__ == type(expected).__name__, f"{what}: {actual!r} instead of {expected!r}"
        return
    (theirs, leaves), (ours, our_leaves) = expected, actual
    for e, a in zip(theirs, ours, strict=True):
        assert_close(a, e, rtol, atol, what)
        assert not strides or tuple(a.stride()) == tuple(e.stride()), f"{what}: strides {a.stride()} instead of {e.stride()}"
        assert a.requires_grad == e.requires_grad, f"{what}: requires_grad"
    _same_gradients(floats(theirs), leaves, floats(ours), our_leaves, order, rtol, atol, what)


def _called(framework, call, inputs):
    inputs = [framework.empty(x.shape, dtype=x.dtype).copy_(x.detach()).requires_grad_(x.requires_grad) if hasattr(x, "requires_grad") else x
              for x in inputs]
    try:
        result = call(framework, *inputs)
    except Exception as error:
        return error
    return list(result) if isinstance(result, (list, tuple)) else [result], floats(inputs)


def _same_gradients(theirs, leaves, ours, our_leaves, order, rtol, atol, what):
    if not (order and theirs and leaves):
        return
    try:
        g = torch.autograd.grad([r.cos().sum() for r in theirs], leaves, create_graph=order > 1, allow_unused=True)
    except RuntimeError:
        return  # no derivative there: what weir makes of it is not compared
    w = weir.autograd.grad([r.cos().sum() for r in ours], our_leaves, create_graph=order > 1, allow_unused=True)
    for e, a in zip(g, w):
        assert (a is None) == (e is None), f"{what}: gradient {order}"
        if e is not None:
            assert_close(a, e, rtol, atol, f"{what}: gradient {order}")
    kept = [(e, a) for e, a in zip(g, w) if e is not None and e.requires_grad and a.requires_grad]  # a constant's derivative
    _same_gradients([e for e, _ in kept], leaves, [a for _, a in kept], our_leaves, order - 1, rtol, atol, what)
