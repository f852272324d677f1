"""Distances as modules."""

import weir.nn.functional as F

from ._fields import Fields

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Fields):
    """Cosine of the angle between x1 and x2 along dim."""

    def __init__(self, dim: int = 1, eps: float = 1e-8):
        super().__init__()
        self._keep(locals())

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Fields):
    """p-norm of x1 - x2 along the last axis."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
