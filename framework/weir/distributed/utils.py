"""Helpers: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.utils", """_sync_module_states _to_kwargs""")
