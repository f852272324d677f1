"""Pooling to a given output size. Window i of n over a length L runs from floor(iL/n) to ceil((i+1)L/n)."""

from _weir import _argument
from weir import Tensor
from weir._composites._register import autocast_as
from weir._ops import op

from ._check import check_tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
]

_adaptive_avg_pool2d, _adaptive_avg_pool3d = op("hidden", "adaptive_avg_pool2d"), op("hidden", "adaptive_avg_pool3d")
_adaptive_max_pool = op("hidden", "adaptive_max_pool_nd")


def _output_size(name, input, output_size, rank):
    check_tensor(name, input)
    if rank > 1 and not isinstance(output_size, int):  # whatever has a length, with None for axes that stay
        if input.dim() <= len(output_size):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        output_size = [size if size is not None else whole for size, whole in zip(output_size, input.shape[-len(output_size):])]
    if isinstance(output_size, Tensor) and output_size.numel() == 1:
        output_size = output_size.reshape(())
    given = _argument(name, "output_size", 2, "int | list[int]", output_size)
    given = given * rank if isinstance(output_size, (int, Tensor)) or hasattr(output_size, "__index__") else given
    if input.dim() not in (rank + 1, rank + 2):
        raise RuntimeError(f"{name}(): Expected {rank + 1}D or {rank + 2}D tensor, but got {list(input.shape)}")
    if len(given) != rank:
        raise RuntimeError(f"{name}: output_size must be {rank}")
    sizes = list(given)
    if any(s < 0 for s in sizes):
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0")
    mean = "avg" in name and all(s == 1 for s in sizes)  # to PyTorch, of nothing too
    filled = input.shape[-rank:] if "avg" in name and rank < 3 else input.shape[1:]
    if not mean and 0 in filled:
        raise RuntimeError(f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has "
                           f"sizes {list(input.shape)}")
    return sizes


def _adaptive_max(rank):
    def with_indices(input, output_size, return_indices=False):
        sizes = _output_size(f"adaptive_max_pool{rank}d", input, output_size, rank)
        single = input.dim() == rank + 1
        x = input.unsqueeze(0) if single else input
        if rank == 1:  # an image of one row, whose layout is the result's
            values, indices = (t.squeeze(-2) for t in _adaptive_max_pool(x.unsqueeze(-2), [1, *sizes]))
        else:
            values, indices = _adaptive_max_pool(x, sizes)
        return (values.squeeze(0), indices.squeeze(0)) if single else (values, indices)

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


def _all_ones(output_size, rank):
    if isinstance(output_size, (list, tuple)):
        return len(output_size) == rank and all(type(size) is int and size == 1 for size in output_size)
    return type(output_size) is int and output_size == 1


def adaptive_avg_pool1d(input, output_size):
    """Means of (N, C, L) or (C, L) pooled to a length."""
    sizes = _output_size("adaptive_avg_pool1d", input, output_size, 1)
    if sizes == [1] and input.numel() == 0:
        return input.mean(-1, True)
    return _adaptive_avg_pool2d(input.unsqueeze(-2), (1, *sizes)).squeeze(-2)


def adaptive_avg_pool2d(input, output_size):
    """Means of (N, C, H, W) or (C, H, W) pooled to output_size; None keeps an axis."""
    if _all_ones(output_size, 2) and (input.dim() not in (3, 4) or not input.numel()) and not (
            input.dim() < 3 and not isinstance(output_size, int)):  # a mean to PyTorch, of any rank
        return input.mean((-2, -1), True)
    sizes = _output_size("adaptive_avg_pool2d", input, output_size, 2)
    return input.mean((-2, -1), True) if sizes == [1, 1] and input.numel() == 0 else _adaptive_avg_pool2d(input, sizes)


@autocast_as("float32")
def adaptive_avg_pool3d(input, output_size):
    """Means of (N, C, D, H, W) or (C, D, H, W) pooled to output_size; None keeps an axis."""
    if _all_ones(output_size, 3):  # a mean to PyTorch, of any rank
        return input.mean((-3, -2, -1), True)
    sizes = _output_size("adaptive_avg_pool3d", input, output_size, 3)
    return _adaptive_avg_pool3d(input, sizes)
