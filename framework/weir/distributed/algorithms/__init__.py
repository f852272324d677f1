"""Algorithms over processes: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.algorithms", """Join JoinHook Joinable""")
