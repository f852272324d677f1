"""Dropout and its relatives."""

import warnings

from weir._ops import op

from ._check import check_tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

_dropout = op("nn.functional", "dropout")
# Pairs of an op and its in-place form, indexed by `inplace`.
_features, _alphas, _feature_alphas = ((op("torch", n), op("torch", n + "_")) for n in ("feature_dropout", "alpha_dropout", "feature_alpha_dropout"))


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


def _feature_dropout(input, p, training, inplace, batched):
    _check_probability(p)
    if inplace and not batched and input.requires_grad and input.is_leaf:  # PyTorch unsqueezes it in place
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    kept = not training or p == 0.0 or input.numel() == 0
    if kept and (batched or inplace):
        return input
    if batched:
        return _features[bool(inplace)](input, p, training)
    examples = input.unsqueeze(0)
    result = (examples if kept else _features[False](examples, p, training)).squeeze(0)
    return input.copy_(result) if inplace else result


def _warn_of_axes(name, input, usual):
    if input.dim() not in usual:
        warnings.warn(f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an error in a future "
                      f"release. Expected {usual[0]}D or {usual[1]}D.", stacklevel=3)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d "
                           "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
                           "dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    return _feature_dropout(input, p, training, inplace, input.dim() == 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, H, W). An input of three axes is (N, C, L), with a warning."""
    if input.dim() == 3:
        warnings.warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
                      "interpreted as shape (N, C, L). Use dropout1d for that.", stacklevel=2)
    _warn_of_axes("dropout2d", input, (3, 4))
    return _feature_dropout(input, p, training, inplace, True)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, D, H, W), or of (C, D, H, W)."""
    _warn_of_axes("dropout3d", input, (4, 5))
    return _feature_dropout(input, p, training, inplace, input.dim() == 5)


def _alpha(pair):
    def dropout(input, p=0.5, training=False, inplace=False):
        _check_probability(p)
        return pair[bool(inplace)](input, p, training)
    return dropout


alpha_dropout, feature_alpha_dropout = map(_alpha, (_alphas, _feature_alphas))
alpha_dropout.__doc__ = "Dropout that keeps mean and variance of a self-normalising network. Source: Klambauer et al. 2017."
feature_alpha_dropout.__doc__ = "alpha_dropout of whole channels."
alpha_dropout.__name__, feature_alpha_dropout.__name__ = "alpha_dropout", "feature_alpha_dropout"
