"""Unique elements."""

import math

import weir
from weir import _C
from weir._C import Tensor

from ._register import composite


def _optional(values, inverse, counts, return_inverse, return_counts):
    result = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return result if len(result) > 1 else values


def _columns(rows):
    """Slices along axis 0 as the rows of a matrix, also where there are none of them."""
    return rows if rows.dim() == 1 else rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))


def _check_slices(input, dim):
    if dim is not None and input.numel() == 0 and any(s == 0 for d, s in enumerate(input.shape) if d != dim % input.dim()):
        raise RuntimeError("unique: there are 0 sized dimensions, and they aren't selected, so unique cannot be applied")


_unique_rows = _C.ops["hidden"]["unique_rows"]


def _distinct(input, dim, consecutive):
    """(values, inverse, counts) of input's elements, or of its slices along dim."""
    if dim is None:
        values, inverse, counts = _unique_rows(input.reshape(-1), consecutive)
        return values, inverse.reshape(input.shape), counts
    rows = input.movedim(dim, 0)
    values, inverse, counts = _unique_rows(_columns(rows), consecutive)
    return values.reshape([counts.shape[0], *rows.shape[1:]]).movedim(0, dim), inverse, counts


@composite(public=False)
def unique_consecutive(input: Tensor, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements, or slices along dim. RuntimeError for empty slices."""
    if dim is not None and input.is_complex():
        raise NotImplementedError(f"unique_consecutive: with dim not implemented for {input.dtype}")
    _check_slices(input, dim)
    return _optional(*_distinct(input, dim, True), return_inverse, return_counts)


def _unique_consecutive(input: Tensor, *flags, return_inverse=False, return_counts=None, dim=None):
    """The method as a function. As in PyTorch, flags given by position choose each other's result, which is empty unless
    it was asked for or dim is given: the first one stands for return_counts there, the second for return_inverse."""
    inverse_made, counts_made = (*flags[:2], *(return_inverse, bool(return_counts))[len(flags):])
    shown = (return_inverse or (len(flags) > 1 and flags[1]),
             flags[0] if flags and return_counts is None else bool(return_counts))
    values, inverse, counts = unique_consecutive(input, True, True, flags[2] if len(flags) > 2 else dim)
    if dim is None and len(flags) < 3:
        inverse, counts = inverse if inverse_made else inverse.new_empty(0), counts if counts_made else counts.new_empty(0)
    return _optional(values, inverse, counts, *shown)


_unique_consecutive.__name__ = "unique_consecutive"
composite(_unique_consecutive, method=False, out=None)


@composite(out=None)
def unique(input: Tensor, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along dim, in order. RuntimeError for empty slices."""
    _check_slices(input, dim)
    return _optional(*_distinct(input, dim, False), return_inverse, return_counts)
