"""Unique elements."""

import weir
from weir._C import Tensor

from ._register import composite


def _optional(values, inverse, counts, return_inverse, return_counts):
    result = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return result if len(result) > 1 else values


_distinct = weir._C.ops["hidden"]["unique_values"]


@composite(public=False)
def unique_consecutive(input: Tensor, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements, or slices along dim. RuntimeError for empty slices."""
    return _optional(*_distinct(input, True, dim), return_inverse, return_counts)


def _unique_consecutive(input: Tensor, *flags, return_inverse=False, return_counts=None, dim=None):
    """The method as a function. As in PyTorch, flags given by position choose each other's result, which is empty unless
    it was asked for or dim is given: the first one stands for return_counts there, the second for return_inverse."""
    inverse_made, counts_made = (*flags[:2], *(return_inverse, bool(return_counts))[len(flags):])
    shown = (return_inverse or (len(flags) > 1 and flags[1]),
             flags[0] if flags and return_counts is None else bool(return_counts))
    values, inverse, counts = unique_consecutive(input, True, True, flags[2] if len(flags) > 2 else dim)
    if (dim is None and len(flags) < 3) or input.dim() == 1:
        inverse, counts = inverse if inverse_made else inverse.new_empty(0), counts if counts_made else counts.new_empty(0)
    return _optional(values, inverse, counts, *shown)


_unique_consecutive.__name__ = "unique_consecutive"
composite(_unique_consecutive, method=False, out=None)


@composite(out=None)
def unique(input: Tensor, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along dim, in order. RuntimeError for empty slices."""
    return _optional(*_distinct(input, False, dim), return_inverse, return_counts)
