"""Collectives with gradients: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.nn", """all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter RemoteModule""")
