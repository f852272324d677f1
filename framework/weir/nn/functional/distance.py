"""Distances and similarities between vectors."""

import weir
from weir._composites.matrix import distance

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim, broadcast. Shape: without dim."""
    dtype = weir.result_type(x1, x2)
    if not dtype.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {dtype}")
    x1, x2 = weir.broadcast_tensors(x1.to(dtype), x2.to(dtype))
    return (x1 / _clamped_norm(x1, dim, eps) * (x2 / _clamped_norm(x2, dim, eps))).sum(dim)


def _clamped_norm(x, dim, eps):
    norm = weir.linalg.vector_norm(x, 2, dim, True)
    with weir.no_grad():  # as in PyTorch: the clamp passes the gradient of the norm
        correction = norm.clamp(min=eps) - norm
    return norm + correction


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """p-norm of x1 - x2 + eps along the last axis. Shape: without it."""
    return weir.linalg.vector_norm(x1 - x2 + eps, p, -1, keepdim)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input / max(|input|_p, eps) along dim. Shape: as input."""
    result = input / weir.linalg.vector_norm(input, p, dim, True).clamp_min(eps).expand_as(input)
    return result if out is None else out.copy_(result)


def pdist(input, p=2.0):
    """p-norm distances between all pairs of rows i < j of (N, M). Shape: (N * (N - 1) / 2)."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows = input.shape[0]
    first, second = weir.triu_indices(rows, rows, 1)
    return distance(input[first] - input[second], p)
