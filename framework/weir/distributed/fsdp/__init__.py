"""Sharded data parallelism: names only."""
from weir.distributed._named import names

__getattr__ = names("weir.distributed.fsdp", """FullyShardedDataParallel ShardingStrategy BackwardPrefetch MixedPrecision CPUOffload StateDictType FullStateDictConfig LocalStateDictConfig ShardedStateDictConfig FullOptimStateDictConfig LocalOptimStateDictConfig ShardedOptimStateDictConfig OptimStateKeyType StateDictConfig OptimStateDictConfig StateDictSettings FlatParameter fully_shard FSDPModule MixedPrecisionPolicy OffloadPolicy CPUOffloadPolicy register_fsdp_forward_method UnshardHandle share_comm_ctx""")
