"""Uneven inputs: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.algorithms.join", """Join JoinHook Joinable""")
