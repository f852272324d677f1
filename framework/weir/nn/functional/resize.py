"""Resizing by interpolation, one axis after the other: every mode is separable."""

import math
import warnings

import weir

from .pool_adaptive import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

_RANK_OF_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
_CUBIC_A = -0.75  # the constant of PyTorch's and OpenCV's kernel


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
    if antialias:
        raise NotImplementedError("interpolate: antialias is not supported")
    sizes, scales = _output(input, size, scale_factor, recompute_scale_factor, rank)
    if any(s <= 0 for s in sizes) or any(s <= 0 for s in input.shape[2:]):
        raise RuntimeError("Input and output sizes should be greater than 0, but got input "
                           f"{list(input.shape[2:])} and output {sizes}")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[rank - 1](input, sizes)
    for axis in range(rank):
        input = _resize_axis(input, 2 + axis, sizes[axis], scales[axis], mode, bool(align_corners))
    return input


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
        return given, [None] * rank
    sizes = [int(math.floor(length * scale)) for length, scale in zip(input.shape[2:], given)]
    return sizes, [None] * rank if recompute else given


def _step(old, new, scale, align_corners):
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return 1.0 / scale if scale else old / new


def _resize_axis(input, dim, new, scale, mode, align_corners):
    old = input.shape[dim]
    step = _step(old, new, scale, align_corners)
    if mode.startswith("nearest"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        return input.index_select(dim, _index([int((i + shift) * step) for i in range(new)], old))
    centre = [i * step if align_corners else (i + 0.5) * step - 0.5 for i in range(new)]
    if mode == "bicubic":
        return _taps(input, dim, [math.floor(c) - 1 for c in centre], [_cubic(c - math.floor(c)) for c in centre])
    centre = [max(c, 0.0) for c in centre]
    first = [min(int(c), old - 1) for c in centre]
    return _taps(input, dim, first, [(1 - (c - f), c - f) for c, f in zip(centre, first)])


def _index(positions, size):
    return weir.tensor([min(max(p, 0), size - 1) for p in positions], dtype=weir.int64)


def _taps(input, dim, first, weights):
    """Sum over k of weights[.][k] times the slices at first + k, positions clamped to the border."""
    shape = [1] * input.dim()
    shape[dim] = len(first)
    dtype = input.dtype if input.is_floating_point() else weir.float32
    total = None
    for k, column in enumerate(zip(*weights)):
        part = input.index_select(dim, _index([f + k for f in first], input.shape[dim]))
        part = part * weir.tensor(column, dtype=dtype).reshape(shape)
        total = part if total is None else total + part
    return total if input.is_floating_point() else total.round().to(input.dtype)


def _cubic(t):
    """Weights of four neighbours at distance t after the second. Source: Keys 1981."""
    def near(x):
        return ((_CUBIC_A + 2) * x - (_CUBIC_A + 3)) * x * x + 1

    def far(x):
        return ((_CUBIC_A * x - 5 * _CUBIC_A) * x + 8 * _CUBIC_A) * x - 4 * _CUBIC_A

    return far(t + 1), near(t), near(1 - t), far(2 - t)


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
