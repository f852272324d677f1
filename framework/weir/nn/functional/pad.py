"""Padding by a constant, reflection, replication or wrapping round."""

from weir._ops import op

__all__ = ["pad"]

pad = op("nn.functional", "pad")
