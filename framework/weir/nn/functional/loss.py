"""Losses for regression, classification and distributions. `reduction` is 'mean', 'sum' or 'none'."""

import warnings

import weir
from weir._ops import op

from ._check import check_tensor, legacy_reduction, number

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "gaussian_nll_loss", "huber_loss",
    "kl_div", "l1_loss", "linear_cross_entropy", "mse_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss",
]

_nll_loss_nd, _cross_entropy, _linear_cross_entropy, _gaussian, _kl_div_batchmean = (op("hidden", name) for name in (
    "nll_loss_nd", "cross_entropy", "linear_cross_entropy", "gaussian_nll_loss", "kl_div_batchmean"))
_mse, _l1, _smooth_l1, _huber, _bce = (op("hidden", name) for name in (
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"))
_bce_with_logits, _kl_div, _poisson = (op("torch", name) for name in (
    "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss"))


def _pair(name, input, target):
    check_tensor(name, input)
    check_tensor(name, target, "target")
    if input.shape != target.shape:
        warnings.warn(f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This "
                      "will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
                      stacklevel=3)
        return weir.broadcast_tensors(input, target)
    return input, target


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target)^2."""
    input, target = _pair("mse_loss", input, target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _mse(input, target, number(reduction), weight)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|."""
    input, target = _pair("l1_loss", input, target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _l1(input, target, number(reduction), weight)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """d^2 / (2 beta) where d = |input - target| < beta, d - beta / 2 elsewhere. Source: Girshick 2015."""
    input, target = _pair("smooth_l1_loss", input, target)
    return _smooth_l1(input, target, number(legacy_reduction(size_average, reduce, reduction)), beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d^2 / 2 where d = |input - target| <= delta, delta (d - delta / 2) elsewhere. Source: Huber 1964."""
    input, target = _pair("huber_loss", input, target)
    return _huber(input, target, number(reduction), delta, weight)  # whose weighted mean does not divide by the weights


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-weight[target] * input[target]. Shapes: (N, C, *), (N, *); 'mean' divides by the sum of the weights."""
    return _nll_loss_nd(input, target, weight, legacy_reduction(size_average, reduce, reduction), ignore_index)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
                  label_smoothing=0.0):
    """-log softmax(input) at target: class indices (N, *), or probabilities of input's shape (N, C, *)."""
    return _cross_entropy(input, target, weight, ignore_index, legacy_reduction(size_average, reduce, reduction), label_smoothing)


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean",
                         ignore_index=None, label_smoothing=0.0, options=None):
    """cross_entropy of the logits input @ linear_weight.T + linear_bias. Shapes: (N, F) or (F,), (C, *, F), (N, *).

    `options` says in which chunks PyTorch computes, which does not change the result, and is ignored. RuntimeError for shapes
    that do not fit, and for an ignore_index beside probabilities.
    """
    return _linear_cross_entropy(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, label_smoothing)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(t log p + (1 - t) log(1 - p)) of probabilities p; logs are at least -100. Raises RuntimeError for p outside [0, 1]."""
    return _bce(input, target, weight, number(legacy_reduction(size_average, reduce, reduction)))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean",
                                     pos_weight=None):
    """binary_cross_entropy of sigmoid(input), without overflow; pos_weight scales the positive part."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_tensor("binary_cross_entropy_with_logits", input)
    check_tensor("binary_cross_entropy_with_logits", target, "target")
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _bce_with_logits(input, target, weight, pos_weight, number(reduction))


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target (log target - input), input being log-probabilities; 'batchmean' divides the sum by N."""
    batch_mean = reduction == "batchmean"
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch "
                      "size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                      "major release.", stacklevel=2)
    reduction = number(legacy_reduction(size_average, reduce, "sum" if batch_mean else reduction))
    return (_kl_div_batchmean if batch_mean else _kl_div)(input, target, reduction, log_target=log_target)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
                     reduction="mean"):
    """Negative log-likelihood of a Poisson distribution with rate exp(input), or input when not `log_input`."""
    return _poisson(input, target, log_input, full, eps, number(legacy_reduction(size_average, reduce, reduction)))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log-likelihood of normal distributions with means `input` and variances `var` (at least eps)."""
    eps = eps.detach() if isinstance(eps, weir.Tensor) else eps  # a bound, which has no gradient
    return _gaussian(input, target, var, full, eps, number(reduction))
