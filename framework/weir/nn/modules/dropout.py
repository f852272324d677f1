"""Dropout modules."""

import weir.nn.functional as F

from ._fields import Fields

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Fields):
    """A probability p, and whether the input itself is written to."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return getattr(F, self._function)(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Zeroes elements with probability p in training and scales the others by 1 / (1 - p)."""

    _function = "dropout"


class Dropout1d(_DropoutNd):
    """Zeroes whole channels of (N, C, L)."""

    _function = "dropout1d"


class Dropout2d(_DropoutNd):
    """Zeroes whole channels of (N, C, H, W)."""

    _function = "dropout2d"


class Dropout3d(_DropoutNd):
    """Zeroes whole channels of (N, C, D, H, W)."""

    _function = "dropout3d"


class _Alpha(_DropoutNd):
    """Dropout that keeps mean and variance. As in PyTorch, `inplace` is kept and ignored."""

    def forward(self, input):
        return getattr(F, self._function)(input, self.p, self.training)


class AlphaDropout(_Alpha):
    """Dropout that keeps mean and variance."""

    _function = "alpha_dropout"


class FeatureAlphaDropout(_Alpha):
    """AlphaDropout of whole channels."""

    _function = "feature_alpha_dropout"


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
