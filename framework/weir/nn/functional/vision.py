"""Rearranging pixels: shuffles, patches, sampling grids."""

import weir

from ._check import check_tensor, ntuple
from .pad import pad as _pad

__all__ = ["affine_grid", "channel_shuffle", "fold", "native_channel_shuffle", "pixel_shuffle",
           "pixel_unshuffle", "unfold"]


def pixel_shuffle(input, upscale_factor):
    """(*, C r^2, H, W) -> (*, C, H r, W r). Source: Shi et al. 2016."""
    check_tensor("pixel_shuffle", input)
    r = upscale_factor
    if input.dim() < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.dim()} "
                           "dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}")
    n = len(lead)
    split = input.reshape(*lead, channels // (r * r), r, r, height, width)
    split = split.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return split.reshape(*lead, channels // (r * r), height * r, width * r)


def pixel_unshuffle(input, downscale_factor):
    """(*, C, H r, W r) -> (*, C r^2, H, W), the inverse of pixel_shuffle."""
    check_tensor("pixel_unshuffle", input)
    r = downscale_factor
    if input.dim() < 3:
        raise RuntimeError("pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
                           f"{input.dim()} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, channels, height, width = input.shape
    if height % r or width % r:
        raise RuntimeError(f"pixel_unshuffle expects height and width to be divisible by downscale_factor, but got "
                           f"{height} x {width} and {r}")
    n = len(lead)
    split = input.reshape(*lead, channels, height // r, r, width // r, r)
    split = split.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return split.reshape(*lead, channels * r * r, height // r, width // r)


def channel_shuffle(input, groups):
    """Channels of (N, C, *) taken in turn from `groups` groups. Source: Zhang et al. 2017."""
    check_tensor("channel_shuffle", input)
    if input.dim() <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *spatial = input.shape
    if channels % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.")
    return input.reshape(batch, groups, channels // groups, *spatial).transpose(1, 2).reshape(input.shape)


native_channel_shuffle = channel_shuffle


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


def affine_grid(theta, size, align_corners=None):
    """Sampling grid (N, H, W, 2) of the affine maps theta (N, 2, 3)."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (2, 3) or len(size) != 4:
        raise NotImplementedError("affine_grid: only 4-d sizes with (N, 2, 3) maps are supported")
    n, _, height, width = size

    def axis(count):
        line = weir.linspace(-1, 1, count, dtype=theta.dtype) if count > 1 else weir.zeros(1, dtype=theta.dtype)
        return line if align_corners else line * (count - 1) / count

    x, y = axis(width).expand(height, width), axis(height).unsqueeze(-1).expand(height, width)
    base = weir.stack([x, y, weir.ones_like(x)], -1).reshape(1, -1, 3)
    return (base @ theta.transpose(1, 2)).reshape(n, height, width, 2)
