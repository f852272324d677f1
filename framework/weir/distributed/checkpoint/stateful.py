"""State of sharded models: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.checkpoint.stateful", """Stateful""")
