"""Distances and similarities between vectors."""

import weir
from weir._ops import op

__all__ = ["cosine_similarity", "normalize", "pairwise_distance", "pdist"]

pdist, cosine_similarity, pairwise_distance = op("nn.functional", "pdist"), op("torch", "cosine_similarity"), op("torch", "pairwise_distance")


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """input / max(|input|_p, eps) along dim. Shape: as input."""
    length = weir.linalg.vector_norm(input, p, dim, True).clamp_min(eps).expand_as(input)
    return input / length if out is None else weir.div(input, length, out=out)
