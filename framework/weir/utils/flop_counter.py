"""Counting of operations, which needs dispatch modes."""
from weir._absent import absent as _absent

FlopCounterMode = _absent("utils.flop_counter.FlopCounterMode", "weir has no dispatcher of PyTorch's kind")
register_flop_formula = _absent("utils.flop_counter.register_flop_formula", "weir has no dispatcher of PyTorch's kind")
