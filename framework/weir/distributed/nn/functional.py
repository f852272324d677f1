"""Collectives with gradients: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.nn.functional", "all_gather all_reduce all_to_all all_to_all_single broadcast gather reduce reduce_scatter scatter")
