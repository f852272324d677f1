"""Masks of attention: names only."""
from weir._absent import absent_names

__getattr__ = absent_names("weir.nn.attention.bias", "CausalBias CausalVariant causal_lower_right causal_upper_left",
                           "weir has no mask objects yet")
