"""Faults that show only in some circumstances, or beside the numbers: in a layout, of nothing, of one number, under autocast; in inputs,
versions, histories and warnings.

Each takes (W, function, args, kwargs) and gives the result and whether the fault changed it.
"""

import warnings

from .faults import floating, fresh, instead


def _tensors(W, args, kwargs) -> list:
    return [x for x in (*args, *kwargs.values()) if isinstance(x, W.Tensor)]


def strided_only(W, function, args, kwargs):
    """Wrong in the first element, and only where an input is not row-major."""
    if all(x.is_contiguous() for x in _tensors(W, args, kwargs)):
        return function(*args, **kwargs), False

    def shifted(result):
        if not floating(result):
            return None
        copy = result.clone(memory_format=W.contiguous_format)
        copy.view(-1)[0] += 1.0
        return copy
    return instead(W, function, args, kwargs, shifted)


def empty_only(W, function, args, kwargs):
    """The shape forgotten, and only where there is nothing in the result."""
    result = function(*args, **kwargs)
    own = isinstance(result, W.Tensor) and result._base is None and not any(result is x for x in _tensors(W, args, kwargs))
    return (result.reshape(-1), True) if own and result.numel() == 0 and result.dim() > 1 else (result, False)


def scalar_only(W, function, args, kwargs):
    """One axis too many, and only where the result is a single number without axes."""
    result = function(*args, **kwargs)
    own = isinstance(result, W.Tensor) and fresh(W, result, args, kwargs)
    return (result.reshape(1), True) if own and result.dim() == 0 else (result, False)


def lone_axis(W, function, args, kwargs):
    """Another stride than PyTorch's, and only for axes of size 1."""
    result = function(*args, **kwargs)
    if not isinstance(result, W.Tensor) or not fresh(W, result, args, kwargs) or 1 not in result.shape or result.requires_grad:
        return result, False
    at = list(result.shape).index(1)
    strides = [stride + 1 if i == at else stride for i, stride in enumerate(result.stride())]
    return result.detach().as_strided(result.shape, strides).detach(), True


def autocast_ignored(W, function, args, kwargs):
    """An operation that does not hear of autocast."""
    if not W.is_autocast_enabled("cpu"):
        return function(*args, **kwargs), False
    right = function(*args, **kwargs)
    with W.autocast("cpu", enabled=False):
        try:
            result = function(*args, **kwargs)
        except Exception:
            return right, False  # of dtypes that only autocast brings together
    return result, isinstance(result, W.Tensor) and isinstance(right, W.Tensor) and result.dtype != right.dtype


def muted(W, function, args, kwargs):
    """A warning that nobody hears."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        result = function(*args, **kwargs)
    return result, bool(shown)


def spoiled_input(W, function, args, kwargs):
    """An input written to, unknown to its version counter."""
    result = function(*args, **kwargs)
    first = args[0] if args else None
    if not isinstance(first, W.Tensor) or not first.numel() or not floating(first) or "out" in kwargs or result is first:
        return result, False
    if isinstance(result, W.Tensor) and result._base is not None:
        return result, False
    flat = first.data.as_strided((1,), (1,), first.storage_offset())  # whose versions are its own
    flat.fill_(1.0 if float(flat[0]) != 1.0 else 2.0)
    return result, True


def bumped(W, function, args, kwargs):
    """A version counter that moves though nothing is written."""
    result = function(*args, **kwargs)
    first = args[0] if args else None
    if not isinstance(first, W.Tensor) or "out" in kwargs or result is first:
        return result, False
    W.autograd.graph.increment_version(first)
    return result, True


def spurious_history(W, function, args, kwargs):
    """A result that requires gradients of which nothing is known."""
    result = function(*args, **kwargs)
    if not isinstance(result, W.Tensor) or not fresh(W, result, args, kwargs) or not floating(result) or result.requires_grad:
        return result, False
    return result.detach().requires_grad_(), True


FAULTS = (strided_only, empty_only, scalar_only, lone_axis, autocast_ignored, muted, spoiled_input, bumped, spurious_history)
