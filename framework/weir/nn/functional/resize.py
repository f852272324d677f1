"""Resizing by interpolation."""

import warnings

from _weir import _argument

from weir._C import Tensor
from weir._ops import op

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_interpolate = op("hidden", "interpolate")


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """(N, C, *spatial) resized to `size` or by `scale_factor`.

    mode: nearest, nearest-exact, linear (3-d input), bilinear and bicubic (4-d), lanczos (4-d, with antialias), trilinear (5-d), area.
    Raises ValueError for contradicting arguments, NotImplementedError for a mode unfit for the input.
    """
    rank = input.dim() - 2
    if recompute_scale_factor is not None:
        recompute_scale_factor = bool(recompute_scale_factor)
    if recompute_scale_factor and isinstance(scale_factor, Tensor):  # only sizes follow from it
        scale_factor = _argument("interpolate", "scale_factor", 3, "float", scale_factor.detach())
    return _interpolate(input, _each(size, rank), _each(scale_factor, rank), mode, align_corners, recompute_scale_factor, bool(antialias))


def _each(given, rank):
    return given if given is None or isinstance(given, (tuple, list)) else [given] * rank


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Deprecated name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """Deprecated name of `interpolate` with mode nearest."""
    warnings.warn("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """Deprecated name of `interpolate` with mode bilinear and aligned corners."""
    warnings.warn("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, "bilinear", True)
