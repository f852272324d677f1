"""Rearranging pixels: shuffles and patches."""

from _weir import _renamed

from weir._ops import op

__all__ = ["channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle",
           "pixel_unshuffle", "unfold"]


channel_shuffle = native_channel_shuffle = op("torch", "channel_shuffle")
pixel_shuffle, pixel_unshuffle = op("torch", "pixel_shuffle"), op("torch", "pixel_unshuffle")
#: All windows of (N, C, H, W) as columns, and their sums back into pictures.
unfold, fold = _renamed(op("hidden", "im2col"), "unfold"), _renamed(op("hidden", "col2im"), "fold")
