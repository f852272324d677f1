"""Losses with a margin, on pairs, triplets, classes and labels."""

import weir
from weir._composites._register import autocast_as

from ._check import check_floating, check_tensor, legacy_reduction
from ._check import reduce as _reduced
from .activation import logsigmoid
from .distance import pairwise_distance

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@autocast_as("float32")
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target (input1 - input2) + margin); target is 1 or -1."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{input1.shape}, input2: {input2.shape}, target: {target.shape} ")
    return _reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


@autocast_as("float32")
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin - input) where it is -1."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    zero = weir.zeros_like(input)
    hinge = weir.where(target != 1, (margin - input).clamp_min(0), zero)
    return _reduced(hinge + weir.where(target != -1, input, zero), reduction)


@autocast_as("float32")
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target input))."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    check_tensor("soft_margin_loss", input)
    # In place, so that the result has input's shape and dtype whatever those of target, and whole numbers are refused.
    return _reduced((-input).mul_(target).exp_().log1p(), reduction)


@autocast_as("float32")
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1. Shapes: (N, D), (N, D), (N)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if target.dim() > 1:
        raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported, got {list(target.shape)}")
    if input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        raise RuntimeError(f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs "
                           f"with sizes {list(input1.shape)} and {list(input2.shape)}.")
    epsilon = 1e-12  # as PyTorch, inside the root
    product = (input1 * input2).sum(-1)
    scale = ((input1 * input1).sum(-1) + epsilon) * ((input2 * input2).sum(-1) + epsilon)
    cosine = product / scale.sqrt()
    zero = weir.zeros_like(cosine)
    positive = weir.where(target == 1, 1 - cosine, zero)
    return _reduced(positive + weir.where(target == -1, (cosine - margin).clamp_min(0), zero), reduction)


@autocast_as("float32")
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
                        reduce=None, reduction="mean"):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin). Source: Balntas et al. 2016."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, "
                           f"but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative "
                           f"{negative.dim()}D inputs")
    return triplet_margin_with_distance_loss(anchor, positive, negative, swap=swap, margin=margin, reduction=reduction,
                                             distance_function=lambda a, b: pairwise_distance(a, b, p, eps))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """triplet_margin_loss under any distance; `swap` takes the nearer of anchor and positive to the negative."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = weir.minimum(far, distance(positive, negative))
    return _reduced((margin + near - far).clamp_min(0), reduction)


def _hinge(distance):
    """distance where it is above 0, else 0: also for NaN."""
    return weir.where(distance > 0, distance, 0.0)


@autocast_as("float32")
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes i != t of weight[t] max(0, margin - x_t + x_i)^p. Shapes: (N, C), (N)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    if weight is not None and weight.numel() != input.shape[-1]:
        raise RuntimeError(f"multi_margin_loss: inconsistent weight size, expected {input.shape[-1]} but got "
                           f"{list(weight.shape)}")
    if input.dim() > 2 or (input.dim() and input.shape[-1] == 0):
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    rows, labels = (input, target) if input.dim() == 2 else (input.reshape(1, -1), target.reshape(-1))
    if labels.dim() != 1 or labels.shape[0] != rows.shape[0]:
        raise RuntimeError(f"inconsistent target size, expected {rows.shape[0]} but got {list(target.shape)}")
    if input.numel():
        check_floating("multi_margin_loss", input)
    column = labels.unsqueeze(1)
    hinge = _hinge(margin - rows.gather(1, column) + rows) ** p
    if weight is not None:
        hinge = hinge * weight[labels].unsqueeze(1)
    loss = hinge.masked_fill(weir.arange(rows.shape[1]) == column, 0.0).sum(1) / rows.shape[1]
    return _reduced(loss if input.dim() == 2 else loss.squeeze(0), reduction)


@autocast_as("float32")
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Sum over labels j and other classes i of max(0, 1 - (x_j - x_i)) / C; a row's labels end at its first -1."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if input.dim() > 2 or input.shape != target.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    if input.dim() and input.shape[-1] == 0:
        raise RuntimeError("Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                           f"{list(input.shape)}")
    if input.numel():
        check_floating("multilabel_margin_loss", input)
    width = input.shape[-1] if input.dim() else 1
    rows, labels = input.reshape(-1, width), target.reshape(-1, width)
    listed = (labels < 0).to(weir.int64).cumsum(1) == 0
    safe = weir.where(listed, labels, weir.zeros_like(labels))
    is_label = weir.zeros_like(labels).scatter_add(1, safe, listed.to(labels.dtype)) > 0
    hinge = _hinge(1 - rows.gather(1, safe).unsqueeze(2) + rows.unsqueeze(1))
    counted = listed.unsqueeze(2) & weir.logical_not(is_label).unsqueeze(1)
    loss = weir.where(counted, hinge, 0.0).sum((1, 2)) / width
    return _reduced(loss if input.dim() == 2 else loss.squeeze(0), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Mean over classes of binary_cross_entropy_with_logits. Shapes: (N, C), (N, C)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.mean(-1), reduction)
