"""Rearranging pixels: shuffles and patches."""

from _weir import _renamed

from weir._C import Tensor
from weir._ops import op

__all__ = ["channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle",
           "pixel_unshuffle", "unfold"]


channel_shuffle = native_channel_shuffle = op("torch", "channel_shuffle")
pixel_shuffle, pixel_unshuffle = op("torch", "pixel_shuffle"), op("torch", "pixel_unshuffle")
#: All windows of (N, C, H, W) as columns.
unfold, _fold = _renamed(op("hidden", "im2col"), "unfold"), _renamed(op("hidden", "col2im"), "fold")


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """All windows of (N, C, H, W) as columns, summed back into pictures of `output_size`. Each size is one int or two, in a tensor too."""
    return _fold(input, *(_listed(x) for x in (output_size, kernel_size, dilation, padding, stride)))


def _listed(numbers):
    return list(numbers) if hasattr(numbers, "__iter__") and not (isinstance(numbers, Tensor) and numbers.dim() == 0) else numbers
