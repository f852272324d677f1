"""Losses with a margin, on pairs, triplets, classes and labels."""

import weir
from weir._ops import op

from ._check import legacy_reduction, number
from ._check import reduce as _reduced
from .distance import pairwise_distance

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


_margin_ranking, _hinge_embedding, _cosine_embedding = (op("torch", name) for name in (
    "margin_ranking_loss", "hinge_embedding_loss", "cosine_embedding_loss"))
_soft_margin, _multi_margin, _multilabel_margin, _multilabel_soft_margin, _triplet_margin = (op("hidden", name) for name in (
    "soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "triplet_margin_loss"))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target (input1 - input2) + margin); target is 1 or -1."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return _margin_ranking(input1, input2, target, margin, number(reduction))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    return _hinge_embedding(input, target, margin, number(legacy_reduction(size_average, reduce, reduction)))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target input))."""
    return _soft_margin(input, target, number(legacy_reduction(size_average, reduce, reduction)))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1. Shapes: (N, D), (N, D), (N)."""
    return _cosine_embedding(input1, input2, target, margin, number(legacy_reduction(size_average, reduce, reduction)))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin). Source: Balntas et al. 2016."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _triplet_margin(anchor, positive, negative, margin, p, eps, swap, number(reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """triplet_margin_loss under any distance; `swap` takes the nearer of anchor and positive to the negative."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
                           f"{anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = weir.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes i != t of weight[t] max(0, margin - x_t + x_i)^p. Shapes: (N, C), (N)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    return _multi_margin(input, target, p, margin, weight, number(reduction))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Sum over labels j and other classes i of max(0, 1 - (x_j - x_i)) / C; a row's labels end at its first -1."""
    return _multilabel_margin(input, target, number(legacy_reduction(size_average, reduce, reduction)))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes of binary_cross_entropy_with_logits. Shapes: (N, C), (N, C)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _multilabel_soft_margin(input, target, weight, number(reduction))
