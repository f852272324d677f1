"""Unique elements."""

import weir
from weir._C import Tensor

from ._register import composite


def _optional(values, inverse, counts, return_inverse, return_counts):
    result = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return result if len(result) > 1 else values


def _check_flags(name, **flags):
    for key, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"{name}(): argument '{key}' must be bool, not {type(value).__name__}")


_NOT_GIVEN = object()
_distinct = weir._C.ops["hidden"]["unique_values"]


@composite(public=False, out=None, numpy_names=False)
def unique_consecutive(input: Tensor, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements, or slices along dim. RuntimeError for empty slices."""
    _check_flags("unique_consecutive", return_inverse=return_inverse, return_counts=return_counts)
    return _optional(*_distinct(input, True, dim, return_inverse, return_counts), return_inverse, return_counts)


def _unique_consecutive(input: Tensor, *flags, return_inverse=False, return_counts=_NOT_GIVEN, dim=None):
    """The method as a function. As in PyTorch, flags given by position choose each other's result, which is empty unless
    it was asked for or dim is given: the first one stands for return_counts there, the second for return_inverse."""
    named = return_counts is not _NOT_GIVEN
    counted = return_counts if named else False
    for flag in (*flags[:2], return_inverse):
        _check_flags("unique_consecutive", return_inverse=flag, return_counts=counted)
    inverse_made, counts_made = (*flags[:2], *(return_inverse, counted)[len(flags):])
    shown = (return_inverse or (len(flags) > 1 and flags[1]), flags[0] if flags and not named else counted)
    flat = (dim is None and len(flags) < 3) or input.dim() == 1
    return _optional(*_distinct(input, True, flags[2] if len(flags) > 2 else dim, inverse_made or not flat, counts_made or not flat), *shown)


_unique_consecutive.__name__ = "unique_consecutive"
composite(_unique_consecutive, method=False, out=None, numpy_names=False)


@composite(out=None, numpy_names=False)
def unique(input: Tensor, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along dim, in order. RuntimeError for empty slices."""
    _check_flags("unique", sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    return _optional(*_distinct(input, False, dim, return_inverse, return_counts), return_inverse, return_counts)
