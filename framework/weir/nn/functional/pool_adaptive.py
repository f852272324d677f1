"""Pooling to a given output size. Window i of n over a length L runs from floor(iL/n) to ceil((i+1)L/n)."""

from _weir import _argument
from weir._ops import op

from ._check import check_tensor

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices",
]

adaptive_avg_pool1d = op("hidden", "adaptive_avg_pool1d")


def _to_size(name, rank):
    core = op("hidden", name)

    def pool(input, output_size):
        check_tensor(name, input)
        if isinstance(output_size, int):
            return core(input, [_argument(name, "output_size", 2, "int", output_size)] * rank)
        if input.dim() <= len(output_size):
            raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
        return core(input, [size if given is None else given for given, size in zip(output_size, input.shape[-len(output_size):])])

    pool.__name__ = name
    pool.__doc__ = f"Means of the last {rank} axes pooled to output_size, a number for all or one each; None keeps an axis."
    return pool


def _maxima(name, both):
    def with_indices(input, output_size, return_indices=False):
        return tuple(both(input, output_size))

    def pool(input, output_size, return_indices=False):
        values, indices = both(input, output_size)
        return (values, indices) if return_indices else values

    pool.__name__, with_indices.__name__ = name, name + "_with_indices"
    pool.__doc__ = "Maxima of the last axes pooled to output_size; with `return_indices` their positions."
    return pool, with_indices


adaptive_avg_pool2d, adaptive_avg_pool3d = _to_size("adaptive_avg_pool2d", 2), _to_size("adaptive_avg_pool3d", 3)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _maxima("adaptive_max_pool1d", op("hidden", "adaptive_max_pool1d"))
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _maxima("adaptive_max_pool2d", _to_size("adaptive_max_pool2d", 2))
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _maxima("adaptive_max_pool3d", _to_size("adaptive_max_pool3d", 3))
