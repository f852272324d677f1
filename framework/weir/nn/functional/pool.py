"""Max, average and power pooling over windows. 1-d pools are 2-d ones with a height of 1."""

import functools

import weir
from weir._composites._register import autocast_as
from weir._ops import op
from weir._tensor import suggested_format

from ._check import check_batched, check_floating, ntuple

__all__ = [
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d",
]

avg_pool2d = op("nn.functional", "avg_pool2d")
avg_pool3d = op("nn.functional", "avg_pool3d")
lp_pool1d, lp_pool2d, lp_pool3d = (op("nn.functional", f"lp_pool{rank}d") for rank in (1, 2, 3))
_max_pool2d = op("hidden", "max_pool2d_with_indices")
_max_pool3d = op("hidden", "max_pool3d_with_indices")


def _single(value, name, fallback=None):
    if value is None or (isinstance(value, (tuple, list)) and not value):
        return fallback
    return ntuple(value, 1, name)[0]


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Mean over windows of (N, C, L) or (C, L)."""
    check_batched("avg_pool1d", input, 1)
    kernel = _single(kernel_size, "kernel_size")
    return avg_pool2d(input.unsqueeze(-2), (1, kernel), (1, _single(stride, "stride", kernel)),
                      (0, _single(padding, "padding")), ceil_mode, count_include_pad).squeeze(-2)


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows of (N, C, L) or (C, L), and their positions."""
    check_batched("max_pool1d", input, 1)
    kernel = _single(kernel_size, "kernel_size")
    values, indices = _max_pool2d(input.unsqueeze(-2), (1, kernel), (1, _single(stride, "stride", kernel)),
                                  (0, _single(padding, "padding")), (1, _single(dilation, "dilation")), ceil_mode)
    return values.squeeze(-2), indices.squeeze(-2)


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows of (N, C, H, W) or (C, H, W), and their positions in the H x W plane."""
    return tuple(_max_pool2d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode))


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
                            return_indices=False):
    """Maxima over windows of (N, C, D, H, W) or (C, D, H, W), and their positions."""
    return tuple(_max_pool3d(input, kernel_size, [] if stride is None else stride, padding, dilation, ceil_mode))


def _max_pool(with_indices, rank):
    def max_pool(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        values, indices = with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return (values, indices) if return_indices else values

    max_pool.__name__ = f"max_pool{rank}d"
    max_pool.__doc__ = f"Maxima over windows of the last {rank} axes; with `return_indices` also their positions."
    return max_pool


_max_pool1d = _max_pool(max_pool1d_with_indices, 1)


@functools.wraps(_max_pool1d)
def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    # Source: PyTorch's kernel for calls that record nothing reads and writes row by row.
    plain = not return_indices and isinstance(input, weir.Tensor) and not (input.requires_grad and weir.is_grad_enabled())
    if plain:
        check_floating("max_pool1d", input)
        if input.dim() > 1 and input.size(-2) == 1:
            input = input.clone(memory_format=weir.contiguous_format)  # whose strides do not suggest another layout
    return _max_pool1d(input.contiguous() if plain else input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


max_pool2d = _max_pool(max_pool2d_with_indices, 2)
max_pool3d = autocast_as("float32")(_max_pool(max_pool3d_with_indices, 3))


def _unpool_size(input, kernel, stride, padding, output_size, rank):
    default = [(size - 1) * s - 2 * p + k
               for size, k, s, p in zip(input.shape[-rank:], kernel, stride, padding)]
    if output_size is None:
        for i, size in enumerate(default):
            if size < 0:
                raise ValueError(f"max_unpooling: output_size must contain non-negative spatial dimensions, but got output_size[{i}]={size}")
        return default
    output_size = list(output_size)[-rank:]
    if len(output_size) != rank:
        raise ValueError(f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a "
                         f"length of '{len(output_size)}'")
    for size, usual, s in zip(output_size, default, stride):
        if not usual - s < size < usual + s:
            raise ValueError(f'invalid output_size "{output_size}" (dim 0 must be between {usual - s} and {usual + s})')
    return output_size


def _max_unpool(rank):
    def max_unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        given = [len(x) if isinstance(x, (tuple, list)) else rank for x in (kernel_size, stride, padding)]
        if given[0] > min(rank, *given[1:]):
            raise IndexError("tuple index out of range")  # as PyTorch: each axis needs a stride and a padding
        check_batched(f"max_unpool{rank}d", input, rank)
        check_floating(f"max_unpool{rank}d", input)
        kernel = ntuple(kernel_size, rank, "kernel_size")
        stride = kernel if stride is None else ntuple(stride, rank, "stride")
        size = _unpool_size(input, kernel, stride, ntuple(padding, rank, "padding"), output_size, rank)
        if indices.dtype != weir.int64:
            raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype}")
        if indices.shape != input.shape:
            raise RuntimeError(f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) "
                               f"but got indices tensor with shape: {list(indices.shape)}")
        lead = input.shape[:-rank]
        if 0 in input.shape[input.dim() - rank - 1:]:
            raise RuntimeError(f"max_unpool{rank}d: Expected input to have non-zero size for non-batch dimensions, but got {list(input.shape)}")
        cells = 1
        for s in size:
            cells *= s
        if not cells:  # nothing is written, whatever the indices
            return input.flatten(-rank)[..., :0].reshape(*lead, *size)
        flat = weir.zeros(*lead, cells, dtype=input.dtype)
        result = flat.scatter(-1, indices.flatten(-rank), input.flatten(-rank)).reshape(*lead, *size)
        return result.contiguous(memory_format=suggested_format(input)) if rank == 2 else result

    max_unpool.__name__ = f"max_unpool{rank}d"
    max_unpool.__doc__ = f"Puts values back where max_pool{rank}d found them, zeros elsewhere."
    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = (autocast_as("float32")(_max_unpool(rank)) for rank in (1, 2, 3))
