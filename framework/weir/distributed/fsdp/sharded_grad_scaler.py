"""Loss scaling of sharded gradients: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.fsdp.sharded_grad_scaler", """ShardedGradScaler""")
