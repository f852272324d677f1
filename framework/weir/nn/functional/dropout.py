"""Dropout and its relatives."""

import weir
from weir._ops import op

from ._check import check_tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

# Minus the value a self-normalising network saturates at: scale * alpha of selu.
_ALPHA = 1.7580993408473766
_dropout = op("nn.functional", "dropout")


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes elements with probability p and scales the others by 1 / (1 - p); identity when not training."""
    check_tensor("dropout", input)
    _check_probability(p)
    if not training or p == 0.0 or input.numel() == 0:
        return input
    result = _dropout(input, p, training)
    return input.copy_(result) if inplace else result


def _per_feature(input, kept=2):
    """The shape of one draw for each place of the first `kept` axes."""
    if input.dim() < kept:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return list(input.shape[:kept]) + [1] * (input.dim() - kept)


def _feature_dropout(input, p, training, inplace, batched):
    _check_probability(p)
    if inplace and not batched and input.requires_grad and input.is_leaf:  # PyTorch unsqueezes it in place
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if not training or p == 0.0 or input.numel() == 0:
        return input
    if p == 1.0:
        return input.mul_(0) if inplace else input * 0
    mask = weir.empty(_per_feature(input, 2 if batched else 1), dtype=input.dtype).bernoulli_(1 - p) / (1 - p)
    return input.mul_(mask) if inplace else input * mask


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d "
                           "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
                           "dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    return _feature_dropout(input, p, training, inplace, input.dim() == 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, H, W)."""
    return _feature_dropout(input, p, training, inplace, True)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, D, H, W), or of (C, D, H, W)."""
    return _feature_dropout(input, p, training, inplace, input.dim() == 5)


def _alpha_dropout(input, p, training, inplace, mask_shape):
    check_tensor("alpha_dropout", input)
    _check_probability(p)
    if not training or p == 0.0 or input.numel() == 0:
        return input
    if p == 1.0:
        return input.mul_(0) if inplace else input * 0
    noise = mask_shape(input).bernoulli_(1 - p)
    a = 1 / ((_ALPHA**2 * p + 1) * (1 - p)) ** 0.5
    result = input * (noise * a) + noise.add(-1).mul_(_ALPHA * a).add_(_ALPHA * a * p)
    return input.copy_(result) if inplace else result


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of a self-normalising network. Source: Klambauer et al. 2017."""
    return _alpha_dropout(input, p, training, inplace, weir.empty_like)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    return _alpha_dropout(input, p, training, inplace, lambda x: weir.empty(_per_feature(x), dtype=x.dtype))
