"""Attention with scores of one's own: names only."""
from weir._absent import absent_names

__getattr__ = absent_names("weir.nn.attention.flex_attention", "flex_attention create_block_mask create_mask BlockMask noop_mask "
                           "create_nested_block_mask and_masks or_masks _mask_mod_signature _score_mod_signature "
                           "_DEFAULT_SPARSE_BLOCK_SIZE AuxOutput AuxRequest FlexKernelOptions", "weir has no flexible attention yet")
