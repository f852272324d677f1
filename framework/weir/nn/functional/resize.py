"""Resizing by interpolation: the arguments, of which the op `upsample` takes what is left."""

import math
import warnings

import weir
from weir._ops import op

from .pool_adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_RANK_OF_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_LINEAR = ("linear", "bilinear", "trilinear")
_upsample = op("hidden", "upsample")


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """(N, C, *spatial) resized to `size` or by `scale_factor`.

    mode: nearest, nearest-exact, linear (3-d input), bilinear and bicubic (4-d), trilinear (5-d), area.
    Raises ValueError for contradicting arguments, NotImplementedError for a mode unfit for the input.
    """
    rank = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | "
                             "bicubic | trilinear")
    elif _RANK_OF_LINEAR.get(mode) != rank:
        raise NotImplementedError("Input Error: Only 3D, 4D and 5D input Tensors supported (got "
                                  f"{input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | "
                                  f"area | nearest-exact (got {mode})")
    if rank not in (1, 2, 3):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D)")
    if antialias and not (mode in ("bilinear", "bicubic") and rank == 2):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    sizes, scales = _output(input, size, scale_factor, recompute_scale_factor, rank)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1](input, sizes)
    if not input.is_floating_point() and input.dtype != weir.uint8:
        raise NotImplementedError(f"interpolate: not implemented for {input.dtype}")
    if 0 in input.shape[1:]:
        raise RuntimeError(f"interpolate: Non-empty {rank + 2}D data tensor expected but got a tensor with sizes {list(input.shape)}")
    aligned = bool(align_corners)
    steps = [_step(*lengths, aligned) for lengths in zip(input.shape[2:], sizes, scales)] if all(sizes) else [1.0] * rank
    return _upsample(input, sizes, steps, "linear" if mode in _LINEAR else mode, aligned, antialias)


def _output(input, size, scale_factor, recompute, rank):
    if (size is None) == (scale_factor is None):
        raise ValueError("only one of size or scale_factor should be defined" if size is not None else
                         "either size or scale_factor should be defined")
    given = size if size is not None else scale_factor
    given = list(given) if isinstance(given, (tuple, list)) else [given] * rank
    if len(given) != rank:
        what = "size" if size is not None else "scale_factor"
        raise ValueError(f"{what} shape must match input shape. Input is {rank}D, {what} is {len(given)}")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return given, [None] * rank
    sizes = [int(math.floor(length * scale)) for length, scale in zip(input.shape[2:], given)]
    return sizes, [None] * rank if recompute else given


def _step(old, new, scale, align_corners):
    """How many old elements lie between two new ones."""
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return 1.0 / scale if scale else old / new


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """Deprecated name of `interpolate`."""
    warnings.warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` with mode nearest."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` with mode bilinear and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
