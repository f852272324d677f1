"""Sharded data parallelism: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.fsdp.fully_sharded_data_parallel", """FullyShardedDataParallel ShardingStrategy BackwardPrefetch MixedPrecision CPUOffload StateDictType FullStateDictConfig ShardedStateDictConfig FullOptimStateDictConfig ShardedOptimStateDictConfig FlatParameter""")
