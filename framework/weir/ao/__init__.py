"""Quantisation and pruning as PyTorch arranges them: names only."""
from weir._lazy import lazy_attributes as _lazy

__getattr__ = _lazy("weir.ao", {"quantization": "", "nn": ""})
