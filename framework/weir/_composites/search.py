"""Looking values up."""

import functools
from collections.abc import Sequence

import weir
from weir._C import Tensor

from ._register import OUT_SAME, composite, with_out


@functools.partial(with_out, rule=OUT_SAME)
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


@composite(out=OUT_SAME)
def nonzero_static(input: Tensor, *, size, fill_value=-1):
    """The first `size` rows of nonzero, filled up with fill_value."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    if input.numel() == 0 or input.dim() == 0:
        return weir.full((size, input.dim()), fill_value, dtype=weir.int64)
    held = input.reshape(-1) != 0
    count = held.cumsum(0)
    # Each of them to its place; those behind the last place, and the others, to one more, which is cut off.
    places = weir.where(held & (count <= size), count - 1, size)
    found = weir.zeros(size + 1, dtype=weir.int64).scatter_(0, places, weir.arange(held.numel()))[:size]
    rows = weir.stack(unravel_index(found, input.shape), 1)
    return weir.where((weir.arange(size) < count[-1]).unsqueeze(1), rows, fill_value)


@composite(method=False, out=None)
def unravel_index(indices, shape):
    """Coordinates of flat indices, a tensor per axis. TypeError unless the indices and the sizes are whole numbers."""
    if indices.dtype is weir.bool or indices.is_floating_point() or indices.is_complex():
        raise TypeError(f"unravel_index: expected indices of an integer dtype, but got {indices.dtype}")
    if isinstance(shape, weir.Tensor) or not isinstance(shape, (int, Sequence)):
        raise TypeError(f"unravel_index: expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = [shape] if isinstance(shape, int) else list(shape)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"unravel_index: expected 'shape' to hold ints only, but got {type(size)}")
    if any(s < 0 for s in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    coordinates, indices = [], indices.to(weir.int64)
    for size in reversed(shape):
        coordinates.append(weir.remainder(indices, size))
        indices = weir.floor_divide(indices, size)
    return weir.stack(coordinates[::-1], -1).unbind(-1) if coordinates else ()
