"""Sampling at given places. Source: Jaderberg et al. 2015, and PyTorch's GridSampler for borders."""

import itertools
import math

import weir
from weir._composites._register import autocast_as
from weir._composites.reduction import without_gradient

from ._check import check_floating

__all__ = ["grid_sample", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
_CUBIC = -0.75  # the free parameter of the cubic convolution kernel, PyTorch's value


@autocast_as("float32")
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """input (N, C, [D,] H, W) at the places grid (N, ..., 2 or 3) names, last axis first, -1 to 1 from border to border.

    Returns (N, C, ...). mode: bilinear, nearest or bicubic (4-d only); padding_mode says what lies outside: zeros, border or
    reflection. With align_corners, -1 and 1 are the centres of the outermost elements, else their outer edges. ValueError
    for another mode, RuntimeError for shapes that do not fit.
    """
    if mode not in _MODES:
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be one of {_MODES}, but got: {mode!r}")
    if padding_mode not in _PADDINGS:
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be one of {_PADDINGS}, but got: "
                         f"{padding_mode!r}")
    rank = input.dim() - 2
    if rank not in (2, 3) or grid.dim() != input.dim() or grid.shape[-1] != rank or grid.shape[0] != input.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected input (N, C, [D,] H, W) and a grid of its batch and rank, but got input "
                           f"with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}")
    if mode == "bicubic" and rank != 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    # PyTorch looks at the dtype of images only where there is something to sample.
    if rank == 2 and not input.is_floating_point() and not (input.numel() and grid.numel()):
        return input.new_zeros(*input.shape[:2], *grid.shape[1:-1])
    check_floating("grid_sampler", input)
    places = [_unnormalised(grid[..., rank - 1 - d], n, align_corners) for d, n in enumerate(input.shape[2:])]
    if mode == "bicubic":
        return _cubic(input, places, padding_mode, align_corners)
    places = [_padded(x, n, padding_mode, align_corners) for x, n in zip(places, input.shape[2:])]
    if rank == 3:  # a NaN is outside, and has no gradient
        places = [weir.where(weir.isnan(x), weir.full_like(x, -2.0), x) for x in places]
    if mode == "nearest":
        values = _at(input, [x.detach().round() for x in places])
        return without_gradient(values, sum(places).unsqueeze(1)) if grid.requires_grad else values
    below = [x.detach().floor() for x in places]
    total = 0
    for corner in itertools.product((0, 1), repeat=rank):
        sides = [(x - b) if up else (b + 1 - x) for x, b, up in zip(places, below, corner)]
        weight = math.prod(reversed(sides))  # the last axis first, as PyTorch multiplies
        total = total + _at(input, [b + up for b, up in zip(below, corner)], weight)
    return total


def _unnormalised(x, size, align_corners):
    return (x + 1) / 2 * (size - 1) if align_corners else ((x + 1) * size - 1) / 2


def _padded(x, size, padding_mode, align_corners):
    """Where x reads from: x itself, the border, or its mirror image."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        x = _reflected(x, *((0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)))
    inside = (x > 0) & (x < size - 1)  # no gradient on the border, as in PyTorch
    border = x.detach().clamp(0, size - 1)
    # PyTorch's loop over planes takes NaN to the first element, that over volumes to the last.
    border = border.masked_fill(weir.isnan(border), 0 if x.dim() == 3 else size - 1)
    return weir.where(inside, x, border)


def _reflected(x, low, high):
    span = high - low
    if span == 0:
        return weir.zeros_like(x)
    distance = (x - low).abs()
    rest, turns = distance.fmod(span), (distance.detach() / span).floor()
    return weir.where(turns % 2 == 0, rest, span - rest) + low


def _at(input, index, weight=None):
    """input's elements at whole places, times `weight`, 0 outside: (N, C, *S), rank times (N, *P) -> (N, C, *P)."""
    sizes, shape = input.shape[2:], index[0].shape
    inside = weir.ones(shape, dtype=weir.bool)
    flat = weir.zeros(shape, dtype=weir.int64)
    for i, n in zip(index, sizes):
        within = (i >= 0) & (i <= n - 1)  # NaN is nowhere
        inside = inside & within
        flat = flat * n + weir.where(within, i, weir.zeros_like(i)).to(weir.int64)
    channels = input.shape[1]
    places = math.prod(shape[1:])
    rows = flat.reshape(shape[0], 1, places).expand(shape[0], channels, places)
    values = input.reshape(shape[0], channels, math.prod(sizes)).gather(2, rows)
    values = values.reshape(shape[0], channels, *shape[1:])
    inside, zero = inside.unsqueeze(1), weir.zeros((), dtype=values.dtype)
    values = weir.where(inside, values, zero)
    if weight is None:
        return values
    # In three dimensions PyTorch skips what is outside, in two it multiplies: NaN shows the difference.
    return values * (weight.unsqueeze(1) if len(sizes) == 2 else weir.where(inside, weight.unsqueeze(1), zero))


def _cubic(input, places, padding_mode, align_corners):
    below = [x.detach().floor() for x in places]
    weights = [_cubic_weights(x - b) for x, b in zip(places, below)]
    total = 0
    for taps in itertools.product(range(4), repeat=2):
        index = [_padded(b + (tap - 1), n, padding_mode, align_corners).round()
                 for b, tap, n in zip(below, taps, input.shape[2:])]
        total = total + _at(input, index, weights[0][taps[0]] * weights[1][taps[1]])
    return total


def _cubic_weights(t):
    """Weights of the elements at -1, 0, 1 and 2 for a place t between 0 and 1. Source: Keys 1981."""
    near = lambda x: ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1  # noqa: E731
    far = lambda x: ((_CUBIC * x - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC  # noqa: E731
    return far(t + 1), near(t), near(1 - t), far(2 - t)


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sample with its modes as numbers, in the order of its docstring."""
    return grid_sample(input, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler
