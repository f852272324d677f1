"""weir and its oracle side by side: the same values in both, and comparisons between them."""

import collections

import numpy as np
import torch
import weir


def to_weir(value):
    """A torch value as a weir one: tensors copied, containers kept."""
    if isinstance(value, torch.Tensor):
        bits = value.detach().view(torch.int16) if value.dtype == torch.bfloat16 else value.detach()
        t = weir.from_numpy(np.array(bits.contiguous().numpy(), order="C"))
        t = t.view(weir.bfloat16) if value.dtype == torch.bfloat16 else t
        return t.requires_grad_(value.requires_grad) if value.is_floating_point() else t
    if isinstance(value, torch.dtype):
        return getattr(weir, str(value).split(".")[1])
    if isinstance(value, collections.abc.Mapping):
        return {k: to_weir(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(to_weir(v) for v in value)
    return value


def to_numpy(t):
    """The values of a tensor of either framework; bfloat16 as float32."""
    t = t.detach()
    return (t.float() if str(t.dtype) == "torch.bfloat16" else t).numpy(force=True)


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
