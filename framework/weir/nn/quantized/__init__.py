"""Quantised layers: names only."""
from weir.ao.nn.quantized import __getattr__  # noqa: F401
