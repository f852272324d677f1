"""Sampling at given places."""

import warnings

from weir._ops import op

__all__ = ["affine_grid", "grid_sample", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"]

_MODES, _PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
grid_sampler, grid_sampler_2d, grid_sampler_3d = (op("torch", f"grid_sampler{suffix}") for suffix in ("", "_2d", "_3d"))
_affine_grid = op("torch", "affine_grid_generator")


def _told(align_corners):
    if align_corners is None:
        warnings.warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True if the old "
                      "behavior is desired. See the documentation of grid_sample for details.", stacklevel=3)
    return align_corners


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
    align_corners = _told(align_corners)
    return grid_sampler(input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode), bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    """Sampling grid (N, [D,] H, W, rank) of the affine maps theta (N, rank, rank + 1)."""
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
                                  f"Got size {size}.")
    rank = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (rank, rank + 1):
        raise ValueError(f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size {size}. Got "
                         f"{tuple(theta.shape)}.")
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _affine_grid(theta, size, bool(_told(align_corners)))
