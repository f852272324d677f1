"""Rearranging pixels: shuffles and patches."""

from weir._ops import op

from ._check import ntuple

__all__ = ["channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle",
           "pixel_unshuffle", "unfold"]


channel_shuffle = native_channel_shuffle = op("torch", "channel_shuffle")
pixel_shuffle, pixel_unshuffle = op("torch", "pixel_shuffle"), op("torch", "pixel_unshuffle")
_im2col, _col2im = op("hidden", "im2col"), op("hidden", "col2im")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """All windows of (N, C, H, W) as columns: (N, C kh kw, L). Unbatched input gives no N."""
    return _im2col(input, *(ntuple(v, 2, n) for v, n in (
        (kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride"))))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums columns (N, C kh kw, L) back into (N, C, H, W): the transpose of unfold."""
    return _col2im(input, *(ntuple(v, 2, n) for v, n in (
        (output_size, "output_size"), (kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"), (stride, "stride"))))
