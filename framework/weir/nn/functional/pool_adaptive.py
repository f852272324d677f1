"""Pooling to a given output size. Window i of n over a length L runs from floor(iL/n) to ceil((i+1)L/n)."""

import weir
from weir._composites._register import autocast_as
from weir._composites.reduction import without_gradient
from weir._ops import op

from ._check import check_floating, check_tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
]

_adaptive_avg_pool2d = op("hidden", "adaptive_avg_pool2d")


def _output_size(name, input, output_size, rank):
    check_tensor(name, input)
    given = len(output_size) if isinstance(output_size, (tuple, list)) else rank
    if rank > 1 and input.dim() <= given:
        raise ValueError(f"Input dimension should be at least {given + 1}")
    if input.dim() not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {list(input.shape)}")
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * rank
    if len(output_size) != rank:
        raise RuntimeError(f"{name}: output_size must be {rank}")
    sizes = [given if given is not None else size for given, size in zip(output_size, input.shape[-rank:])]
    if any(s < 0 for s in sizes):
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0")
    if any(s == 0 for s in input.shape[-rank:]):
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                           f"sizes {list(input.shape)}")
    return sizes


def _windows(length, count):
    """For each window its positions, padded to equal length by repeats, and which of them are repeats."""
    spans = [(i * length // count, -(-(i + 1) * length // count)) for i in range(count)]
    width = max((end - start for start, end in spans), default=1)
    rows = [[min(start + k, end - 1) for k in range(width)] for start, end in spans]
    repeated = [[start + k >= end for k in range(width)] for start, end in spans]
    return rows, repeated


def _gather_windows(input, rank, sizes):
    """(*lead, *sizes, window) of input's elements, with positions (*sizes, window) and the repeats' mask."""
    spatial = list(input.shape[-rank:])
    weir.empty([*input.shape[:-rank], *sizes])  # a result that memory does not hold is refused before its windows are listed
    position, repeats = weir.zeros([], dtype=weir.int64), weir.zeros([], dtype=weir.bool)
    for axis, (length, count) in enumerate(zip(spatial, sizes)):
        rows, repeated = (weir.tensor(table, dtype=dtype).reshape(count, -1)
                          for table, dtype in zip(_windows(length, count), (weir.int64, weir.bool)))
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = rows.shape
        position = position * length + rows.reshape(shape)
        repeats = repeats | repeated.reshape(shape)
    position, repeats = position.reshape(*sizes, -1), repeats.reshape(*sizes, -1)
    windows = input.flatten(-rank)[..., position.reshape(-1)].reshape(*input.shape[:-rank], *position.shape)
    return windows, position, repeats


def _adaptive_max(rank):
    def with_indices(input, output_size, return_indices=False):
        sizes = _output_size(f"adaptive_max_pool{rank}d", input, output_size, rank)
        check_floating(f"adaptive_max_pool{rank}d", input)
        if 0 in sizes:
            empty = weir.empty(*input.shape[:-rank], *sizes, dtype=input.dtype)
            return without_gradient(empty, input.sum()), empty.to(weir.int64)
        windows, position, _ = _gather_windows(input, rank, sizes)  # a repeated element changes no maximum
        # A NaN wins over all before it, as in PyTorch: the last one counts.
        spoiled = weir.isnan(windows.detach())
        last = windows.shape[-1] - 1 - spoiled.flip(-1).to(weir.int64).argmax(-1)
        which = weir.where(spoiled.any(-1), last, windows.detach().argmax(-1)).unsqueeze(-1)
        values = windows.gather(-1, which).squeeze(-1)
        indices = position.expand(windows.shape).gather(-1, which).squeeze(-1)
        if rank == 2 and not input.is_contiguous() and input.is_contiguous(memory_format=weir.channels_last):
            values, indices = (x.contiguous(memory_format=weir.channels_last) for x in (values, indices))
        return values, indices

    def pool(input, output_size, return_indices=False):
        values, indices = with_indices(input, output_size)
        return (values, indices) if return_indices else values

    pool.__name__ = f"adaptive_max_pool{rank}d"
    pool.__doc__ = f"Maxima of the last {rank} axes pooled to output_size; with `return_indices` their positions."
    with_indices.__name__ = pool.__name__ + "_with_indices"
    return pool, with_indices


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive_max(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive_max(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = map(autocast_as("float32"), _adaptive_max(3))


def adaptive_avg_pool1d(input, output_size):
    """Means of (N, C, L) or (C, L) pooled to a length."""
    sizes = _output_size("adaptive_avg_pool1d", input, output_size, 1)
    return _adaptive_avg_pool2d(input.unsqueeze(-2), (1, *sizes)).squeeze(-2)


def adaptive_avg_pool2d(input, output_size):
    """Means of (N, C, H, W) or (C, H, W) pooled to output_size; None keeps an axis."""
    return _adaptive_avg_pool2d(input, _output_size("adaptive_avg_pool2d", input, output_size, 2))


@autocast_as("float32")
def adaptive_avg_pool3d(input, output_size):
    """Means of (N, C, D, H, W) or (C, D, H, W) pooled to output_size; None keeps an axis."""
    if output_size in (1, [1, 1, 1], (1, 1, 1)):  # a mean to PyTorch, of any rank
        return input.mean((-3, -2, -1), True)
    sizes = _output_size("adaptive_avg_pool3d", input, output_size, 3)
    check_floating("adaptive_avg_pool3d", input)
    if 0 in sizes:
        return weir.empty(*input.shape[:-3], *sizes, dtype=input.dtype)
    windows, _, repeats = _gather_windows(input, 3, sizes)
    return windows.masked_fill(repeats, 0).sum(-1) / weir.logical_not(repeats).sum(-1)
