"""Looking values up."""

import weir
from weir._C import Tensor

from ._register import composite, with_out


def _binary_search(boundaries, values, right):
    """Insertion points along the last axis, by halving: log2(n) gathers."""
    size = boundaries.shape[-1]
    low = weir.zeros(values.shape, dtype=weir.int64)
    high = weir.full(values.shape, size, dtype=weir.int64)
    for _ in range(size.bit_length()):
        middle = ((low + high) / 2).floor().to(weir.int64)
        probe = boundaries.gather(-1, middle.clamp(max=size - 1))
        before = (probe <= values) if right else (probe < values)
        before = before | (weir.isnan(values) & weir.logical_not(weir.isnan(probe)))
        before = before & (low < high)
        low, high = weir.where(before, middle + 1, low), weir.where(before, high, weir.minimum(high, weir.maximum(middle, low)))
    return low


@composite(method=False)
def searchsorted(sorted_sequence: Tensor, input, *, out_int32=False, right=False, side=None, sorter=None):
    """Indices at which `input` would be inserted to keep the last axis sorted."""
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
        if side == "left" and right:
            raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while "
                               "right was True")
        right = side == "right"
    values = input if isinstance(input, Tensor) else weir.tensor(input)
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape:
            raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size")
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    if sorted_sequence.dim() == 0:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if sorted_sequence.dim() != 1 and sorted_sequence.shape[:-1] != values.shape[:-1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                           "boundaries tensor and input value tensor must match")
    if sorted_sequence.shape[-1] == 0:
        result = weir.zeros(values.shape, dtype=weir.int64)
    elif sorted_sequence.dim() == 1:
        result = _binary_search(sorted_sequence, values.reshape(-1), right).reshape(values.shape)
    else:
        result = _binary_search(sorted_sequence, values, right)
    return result.to(weir.int32) if out_int32 else result


@composite(method=False)
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """The bucket of each element between sorted `boundaries`."""
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@composite(method=False)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Is each element among test_elements?"""
    elements, tests = (x if isinstance(x, Tensor) else weir.tensor(x) for x in (elements, test_elements))
    dtype = weir.promote_types(elements.dtype, tests.dtype)
    if assume_unique and tests.numel() >= int(10 * elements.numel() ** 0.145):  # from there on PyTorch sorts
        return _isin_sorted(elements.to(dtype), tests.to(dtype), invert)
    ordered = weir.sort(tests.reshape(-1).to(dtype))[0]
    if ordered.numel() == 0:
        found = weir.zeros(elements.shape, dtype=weir.bool)
    else:
        wanted = elements.to(dtype)
        found = ordered[searchsorted(ordered, wanted).clamp(max=ordered.numel() - 1)] == wanted
    return weir.logical_not(found) if invert else found


def _isin_sorted(elements, tests, invert):
    """Does an element's equal follow it in the order of both? Where elements repeat, they find each other, as in PyTorch."""
    values, order = weir.sort(weir.cat([elements.reshape(-1), tests.reshape(-1)]), stable=True)
    followed = weir.cat([values[1:] == values[:-1], weir.zeros(1, dtype=weir.bool)])
    found = weir.zeros_like(followed).scatter(0, order, followed)[:elements.numel()].reshape(elements.shape)
    return weir.logical_not(found) if invert else found


@with_out
def _nonzero_rows(input: Tensor):
    return weir._C.ops["hidden"]["nonzero_rows"](input)


@composite(out=None)
def nonzero(input: Tensor, *, as_tuple=False, out=None):
    """Coordinates of the nonzero elements, a row each, or a vector per axis with as_tuple."""
    if not as_tuple:
        return _nonzero_rows(input, out=out)
    if out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {type(out).__name__}")
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    return tuple(_nonzero_rows(input if input.dim() else input.reshape(1)).unbind(1))


@composite(out=None)
def argwhere(input: Tensor):
    """As nonzero."""
    return nonzero(input)


@composite
def nonzero_static(input: Tensor, *, size, fill_value=-1):
    """The first `size` rows of nonzero, filled up with fill_value."""
    rows = nonzero(input)[:size]
    filler = weir.full((size - rows.shape[0], input.dim()), fill_value, dtype=weir.int64)
    return weir.cat([rows, filler], 0)


@composite(method=False)
def unravel_index(indices, shape):
    """Coordinates of flat indices, a tensor per axis."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    if any(s < 0 for s in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    coordinates = []
    for size in reversed(shape):
        coordinates.append(weir.remainder(indices, size))
        indices = weir.floor_divide(indices, size)
    return tuple(reversed(coordinates))
