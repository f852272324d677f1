"""Max, average and power pooling over windows. 1-d pools are 2-d ones with a height of 1."""

from weir._composites._register import autocast_as
from weir._C import Tensor
from weir._ops import op

from ._check import ntuple

__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d",
]

avg_pool1d = op("nn.functional", "avg_pool1d")
avg_pool2d = op("nn.functional", "avg_pool2d")
avg_pool3d = op("nn.functional", "avg_pool3d")
_lp_pools = {rank: op("nn.functional", f"lp_pool{rank}d") for rank in (1, 2, 3)}
_max_pool1d, _max_pool1d_with_indices, _unpool = (op("hidden", name) for name in ("max_pool1d", "max_pool1d_with_indices", "max_unpool_nd"))
_max_pool2d = op("hidden", "max_pool2d_with_indices")
_max_pool3d = op("hidden", "max_pool3d_with_indices")


def _lp_pool(rank):
    powers = _lp_pools[rank]

    def lp_pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        if rank > 1 and isinstance(kernel_size, (tuple, list)) and len(kernel_size) != rank:
            raise ValueError(f"lp_pool{rank}d: kernel_size must be one int or {rank} ints, got {len(kernel_size)}")
        pooled = powers(input, norm_type, kernel_size, stride, ceil_mode)
        if not isinstance(norm_type, Tensor) and norm_type == 0:
            raise ZeroDivisionError(f"lp_pool{rank}d: there is no norm of order 0")
        return pooled

    lp_pool.__name__ = f"lp_pool{rank}d"
    lp_pool.__doc__ = powers.__doc__
    return lp_pool


lp_pool1d, lp_pool2d, lp_pool3d = (_lp_pool(rank) for rank in (1, 2, 3))


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows of (N, C, H, W) or (C, H, W), and their positions in the H x W plane."""
    return tuple(_max_pool2d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode))


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows of (N, C, D, H, W) or (C, D, H, W), and their positions."""
    return tuple(_max_pool3d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode))


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Maxima over windows of (N, C, L) or (C, L), and their positions."""
    return tuple(_max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Maxima over windows of (N, C, L) or (C, L); with `return_indices` also their positions."""
    pool = max_pool1d_with_indices if return_indices else _max_pool1d
    return pool(input, kernel_size, stride, padding, dilation, ceil_mode)


def _max_pool(with_indices, rank):
    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        values, indices = with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return (values, indices) if return_indices else values

    max_pool.__name__ = f"max_pool{rank}d"
    max_pool.__doc__ = f"Maxima over windows of the last {rank} axes; with `return_indices` also their positions."
    return max_pool


max_pool2d = _max_pool(max_pool2d_with_indices, 2)
max_pool3d = autocast_as("float32")(_max_pool(max_pool3d_with_indices, 3))


def _unpooled_size(input, kernel, stride, padding, output_size):
    """How large what was pooled is: as `output_size` says, where windows of `kernel` give that, else the least. In Python's numbers, as in PyTorch, which
    takes truths and fractions into account and knows no largest integer."""
    sizes = input.shape[-len(kernel):] if kernel else ()
    least = [(sizes[d] - 1) * stride[d] + kernel[d] - 2 * padding[d] for d in range(len(kernel))]
    if output_size is None:
        size = least
    else:
        size = output_size[2:] if len(output_size) == len(kernel) + 2 else output_size
        if len(size) != len(kernel):
            raise ValueError(f"output_size should be a sequence containing {len(kernel)} or {len(kernel) + 2} elements, but it has a length of '{len(size)}'")
        for d, (n, step) in enumerate(zip(least, stride)):
            if not (n - step < size[d] < n + step):
                raise ValueError(f'invalid output_size "{size}" (dim {d} must be between {n - step} and {n + step})')
    for d in range(len(kernel)):
        positive = size[d] >= 0
        if not isinstance(positive, bool):
            raise TypeError(f"max_unpool: a size is expected to be a number, got {type(size[d]).__name__}")
        if not positive:
            raise ValueError(f"max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{d}]={size[d]}")
    return size


def _max_unpool(rank):
    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel, stride, padding = (tuple(x) if isinstance(x, (tuple, list)) else (x,) * rank for x in (kernel_size, kernel_size if stride is None else stride, padding))
        size = _unpooled_size(input, kernel, stride, padding, output_size)
        if len(size) != rank:
            raise RuntimeError(f"max_unpool{rank}d: expected an output_size of {rank} elements, but got {len(size)}")
        return _unpool(input, indices, size, *((stride, padding) if rank == 3 else ()))  # of the others nobody asks the stride

    max_unpool.__name__ = f"max_unpool{rank}d"
    max_unpool.__doc__ = f"Puts values back where max_pool{rank}d found them, zeros elsewhere."
    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = (_max_unpool(rank) for rank in (1, 2, 3))
