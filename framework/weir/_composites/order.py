"""Sorting and what follows from it: medians, quantiles, modes, unique elements."""

import math
from collections import namedtuple

import weir
from weir import _C
from weir._C import Tensor

from ._register import OUT_EXACT, autocast_as, composite

_Pair = {name: namedtuple(name, ["values", "indices"]) for name in ("kthvalue", "median", "nanmedian", "mode")}


@composite
def argsort(input: Tensor, dim=-1, descending=False, *, stable=False):
    """The indices that sort along dim."""
    return weir.sort(input, dim, descending, stable)[1]


@composite
def msort(input: Tensor):
    """Sorted along the first axis."""
    return weir.sort(input, 0)[0]


def _pick(name, input, dim, keepdim, position):
    """(values, indices) of the element at `position` in the order along dim; position may be an index tensor."""
    order = weir.sort(input.detach(), dim, False, True)[1]
    if isinstance(position, int):
        index = order.narrow(dim, position, 1).contiguous()
    else:
        index = order.gather(dim, position)
    values = input.gather(dim, index)
    if not keepdim:
        values, index = values.squeeze(dim), index.squeeze(dim)
    return _Pair[name](values, index)


def _scalar_pair(name, input):
    return _Pair[name](input.clone(), weir.zeros((), dtype=weir.int64))


@composite(out=OUT_EXACT)
def kthvalue(input: Tensor, k, dim=-1, keepdim=False):
    """The k-th smallest element along dim (counted from 1) and its index."""
    if input.dim() and input.shape[dim] == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {dim % input.dim()} to have non-zero size.")
    if not 1 <= k <= (input.shape[dim] if input.dim() else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    if input.dim() == 0:
        return _scalar_pair("kthvalue", input)
    return _pick("kthvalue", input, dim, keepdim, k - 1)


def _shared(input, value):
    """`value`, one of input's elements: all that equal it share its gradient, as PyTorch has it."""
    if not (input.requires_grad and weir.is_grad_enabled()):
        return value
    equal = (input == value) | (weir.isnan(input) & weir.isnan(value))
    chosen = weir.where(equal, input, weir.zeros_like(input)).sum() / equal.sum()
    return value + (chosen - chosen.detach()) if bool(weir.isfinite(value)) else chosen


@composite
def median(input: Tensor, dim=None, keepdim=False):
    """The lower median: of all elements, or (values, indices) along dim. NaN where there is one."""
    if dim is None:
        if input.numel() == 0:
            empty = math.nan if input.is_floating_point() else weir.iinfo(input.dtype).min
            return input.sum(dtype=input.dtype).masked_fill(weir.ones((), dtype=weir.bool), empty)
        return _shared(input, median(input.detach().reshape(-1), 0).values)
    if input.dim() == 0:
        return _scalar_pair("median", input)
    if input.shape[dim] == 0:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
    size = input.shape[dim]
    has_nan = weir.isnan(input.detach()).any(dim, True)
    position = weir.full(has_nan.shape, (size - 1) // 2, dtype=weir.int64)
    # sort puts NaN last; the first of them is the answer where there is one
    first_nan = size - weir.isnan(input.detach()).to(weir.int64).sum(dim, True)
    return _pick("median", input, dim, keepdim, weir.where(has_nan, first_nan, position))


@composite
def nanmedian(input: Tensor, dim=None, keepdim=False):
    """median of what is not NaN."""
    if dim is None:
        return _shared(input, nanmedian(input.detach().reshape(-1), 0).values) if input.numel() else median(input)
    if input.dim() == 0:
        return _scalar_pair("nanmedian", input)
    if input.shape[dim] == 0:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
    valid = input.shape[dim] - weir.isnan(input.detach()).to(weir.int64).sum(dim, True)
    return _pick("nanmedian", input, dim, keepdim, ((valid - 1).clamp(min=0) / 2).floor().to(weir.int64))


@composite
def mode(input: Tensor, dim=-1, keepdim=False):
    """The most frequent element along dim, the smallest of equally frequent ones, and the index of its last place."""
    if input.dim() == 0:
        return _scalar_pair("mode", input)
    if input.shape[dim] == 0:
        raise IndexError("mode(): Expected reduction dim to have non-zero size.")
    values, order = weir.sort(input.detach(), dim, False, True)
    last = values.transpose(dim, -1)
    counts = (last.unsqueeze(-1) == last.unsqueeze(-2)).to(weir.int64).sum(-1)
    first = counts.argmax(-1, keepdim=True)
    position = first + counts.gather(-1, first) - 1
    index = order.gather(dim, position.transpose(dim, -1))
    result = input.gather(dim, index)
    return _Pair["mode"](*((result, index) if keepdim else (result.squeeze(dim), index.squeeze(dim))))


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(name, input, q, dim, keepdim, interpolation, ignore_nan):
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           f"{interpolation}")
    if input.dtype not in (weir.float32, weir.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if input.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if isinstance(q, Tensor):
        if q.dim() > 1:
            raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
        if q.dtype != input.dtype:
            raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    else:
        q = weir.tensor(q, dtype=input.dtype)
    if not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    rank = input.dim()
    if dim is None:
        rows = input.reshape(-1)
        shape = [1] * rank if keepdim else []
    else:
        rows = (input if rank else input.reshape(1)).transpose(dim, -1)
        shape = None
    values = _interpolate(weir.sort(rows, -1)[0], q.reshape(-1), interpolation, ignore_nan)
    result = values.movedim(-1, 0)
    if shape is not None:
        result = result.reshape([q.numel(), *shape])
    elif keepdim:
        result = result.unsqueeze(-1).transpose(dim if dim < 0 else dim + 1, -1) if rank else result
    elif rank:
        moved = result.unsqueeze(-1)
        moved = moved.transpose(dim if dim < 0 else dim + 1, -1)
        result = moved.squeeze(dim if dim < 0 else dim + 1)
    return (result if q.dim() else result.squeeze(0)).contiguous()


def _interpolate(ordered, q, interpolation, ignore_nan):
    """Quantiles q of the last, sorted axis. Shape: (*, len(q))."""
    nans = weir.isnan(ordered.detach()).to(weir.int64).sum(-1, True)
    last = ordered.shape[-1] - 1
    rank = (last - nans if ignore_nan else weir.full_like(nans, last)).clamp(min=0).to(q.dtype) * q
    low = {"higher": rank.ceil, "nearest": rank.round}.get(interpolation, rank.floor)()
    low_index = low.to(weir.int64)
    result = ordered.gather(-1, low_index)
    if interpolation in ("linear", "midpoint"):
        weight = rank - low if interpolation == "linear" else (rank.ceil() != rank).to(q.dtype) * 0.5
        result = weir.lerp(result, ordered.gather(-1, rank.ceil().to(weir.int64)), weight)
    spoiled = (nans == ordered.shape[-1]) if ignore_nan else (nans > 0)
    return result.masked_fill(spoiled, math.nan)


@composite(out=OUT_EXACT, out_recorded=True)
@autocast_as("float32")
def quantile(input: Tensor, q, dim=None, keepdim=False, *, interpolation="linear"):
    """The q-th quantiles over dim; an axis of q's length comes in front. NaN where there is one."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@composite(out=OUT_EXACT, out_recorded=True)
@autocast_as("float32")
def nanquantile(input: Tensor, q, dim=None, keepdim=False, *, interpolation="linear"):
    """quantile of what is not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


def _optional(values, inverse, counts, return_inverse, return_counts):
    result = (values,) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())
    return result if len(result) > 1 else values


def _columns(rows):
    """Slices along axis 0 as the rows of a matrix, also where there are none of them."""
    return rows if rows.dim() == 1 else rows.reshape(rows.shape[0], math.prod(rows.shape[1:]))


_unique_rows = _C.ops["hidden"]["unique_rows"]


def _distinct(input, dim, consecutive):
    """(values, inverse, counts) of input's elements, or of its slices along dim."""
    if dim is None:
        values, inverse, counts = _unique_rows(input.detach().reshape(-1), consecutive)
        return values, inverse.reshape(input.shape), counts
    rows = input.detach().movedim(dim, 0)
    values, inverse, counts = _unique_rows(_columns(rows), consecutive)
    return values.reshape([counts.shape[0], *rows.shape[1:]]).movedim(0, dim), inverse, counts


@composite(public=False)
def unique_consecutive(input: Tensor, return_inverse=False, return_counts=False, dim=None):
    """The first of each run of equal elements, or slices along dim."""
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


@composite
def unique(input: Tensor, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements, or slices along dim, in order. RuntimeError for empty slices."""
    if dim is not None and input.numel() == 0 and any(s == 0 for d, s in enumerate(input.shape) if d != dim % input.dim()):
        raise RuntimeError("unique: there are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return _optional(*_distinct(input, dim, False), return_inverse, return_counts)
