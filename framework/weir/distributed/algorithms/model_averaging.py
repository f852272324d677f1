"""Averaging of models: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.algorithms.model_averaging", """averagers""")
