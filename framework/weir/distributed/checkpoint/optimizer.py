"""State of sharded optimizers: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.checkpoint.optimizer", """load_sharded_optimizer_state_dict""")
