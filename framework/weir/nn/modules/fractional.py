"""Fractional max pooling."""

import weir.nn.functional as F
from weir.nn.functional._check import ntuple

from .module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    """Maxima over windows whose starts are drawn at each call, or given."""

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        self.kernel_size, self.return_indices = ntuple(kernel_size, self._axes, "kernel_size"), return_indices
        if self._axes == 3 and not all(k > 0 for k in self.kernel_size):  # as in PyTorch, of volumes only
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else ntuple(output_size, self._axes, "output_size")
        self.output_ratio = None if output_ratio is None else ntuple(output_ratio, self._axes, "output_ratio")
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        return getattr(F, self._function)(input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
                                          _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima over windows whose starts are drawn at each call, or given. Shapes: (N, C, H, W) -> (N, C, *output_size)."""

    _axes, _function = 2, "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    """As FractionalMaxPool2d, of (N, C, D, H, W)."""

    _axes, _function = 3, "fractional_max_pool3d"
