"""Rearranging pixels: shuffles and patches."""

import weir
from weir._ops import op

from ._check import check_tensor, ntuple
from .pad import pad as _pad

__all__ = ["channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle",
           "pixel_unshuffle", "unfold"]


channel_shuffle = native_channel_shuffle = op("torch", "channel_shuffle")
pixel_shuffle, pixel_unshuffle = op("torch", "pixel_shuffle"), op("torch", "pixel_unshuffle")


def _starts(length, kernel, dilation, padding, stride):
    return (length + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def _check_window(name, **values):
    for what, pair in values.items():
        if any(v <= 0 for v in pair):
            raise RuntimeError(f"{what} should be greater than zero, but got {what}: {pair}")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """All windows of (N, C, H, W) as columns: (N, C kh kw, L). Unbatched input gives no N."""
    check_tensor("unfold", input)
    if input.dim() not in (3, 4):
        raise RuntimeError("Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
                           f"for input, but got: {list(input.shape)}")
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (
        ntuple(v, 2, n) for v, n in ((kernel_size, "kernel_size"), (dilation, "dilation"), (padding, "padding"),
                                     (stride, "stride")))
    _check_window("unfold", kernel=(kh, kw), dilation=(dh, dw), stride=(sh, sw))
    batch = input if input.dim() == 4 else input.unsqueeze(0)
    n, channels, height, width = batch.shape
    rows, columns = _starts(height, kh, dh, ph, sh), _starts(width, kw, dw, pw, sw)
    if rows < 1 or columns < 1:
        raise RuntimeError(f"unfold: the window does not fit: {rows} x {columns} blocks of an input {list(input.shape)}")
    batch = _pad(batch, [pw, pw, ph, ph])
    patches = [batch[:, :, i * dh:i * dh + sh * (rows - 1) + 1:sh, j * dw:j * dw + sw * (columns - 1) + 1:sw]
               for i in range(kh) for j in range(kw)]
    result = weir.stack(patches, 2).reshape(n, channels * kh * kw, rows * columns)
    return result if input.dim() == 4 else result.squeeze(0)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums columns (N, C kh kw, L) back into (N, C, H, W): the transpose of unfold."""
    check_tensor("fold", input)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input, but got: {list(input.shape)}")
    (height, width), (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (
        ntuple(v, 2, n) for v, n in ((output_size, "output_size"), (kernel_size, "kernel_size"),
                                     (dilation, "dilation"), (padding, "padding"), (stride, "stride")))
    _check_window("fold", kernel=(kh, kw), dilation=(dh, dw), stride=(sh, sw))
    batch = input if input.dim() == 3 else input.unsqueeze(0)
    n, flat, length = batch.shape
    rows, columns = _starts(height, kh, dh, ph, sh), _starts(width, kw, dw, pw, sw)
    if flat % (kh * kw):
        raise RuntimeError(f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                           f"input.size(1)={flat} and kernel_size=({kh}, {kw}).")
    if rows * columns != length:
        raise RuntimeError(f"Given output_size=({height}, {width}), kernel_size=({kh}, {kw}), expected size of input's "
                           f"dimension 2 to match the calculated number of sliding blocks {rows} * {columns} = "
                           f"{rows * columns}, but got input.size(2)={length}.")
    padded_width = width + 2 * pw
    y = weir.arange(kh).reshape(-1, 1, 1, 1) * dh + weir.arange(rows).reshape(1, 1, -1, 1) * sh
    x = weir.arange(kw).reshape(1, -1, 1, 1) * dw + weir.arange(columns).reshape(1, 1, 1, -1) * sw
    position = (y * padded_width + x).reshape(-1)
    channels = flat // (kh * kw)
    canvas = weir.zeros(n, channels, (height + 2 * ph) * padded_width, dtype=input.dtype)
    canvas = canvas.index_add(2, position, batch.reshape(n, channels, kh * kw * length))
    result = canvas.reshape(n, channels, height + 2 * ph, padded_width)[:, :, ph:ph + height, pw:pw + width]
    return result.contiguous() if input.dim() == 3 else result.squeeze(0)
