"""`torch._C._distributed_c10d`: what `torch.distributed` shows of it, and names."""
from weir import distributed as _distributed
from weir._absent import absent_names

__getattr__ = absent_names(
    "weir._C._distributed_c10d", "AllToAllOptions AllgatherOptions AllreduceCoalescedOptions BarrierOptions BroadcastOptions ErrorType FakeWork "
    "GatherOptions GradBucket Logger OpType ReduceScatterOptions Reducer ScatterOptions WorkInfo WorkResult _ControlCollectives "
    "_DistributedBackendOptions _ProcessGroupWrapper _StoreCollectives _SymmetricMemory _WorkerServer _create_work_from_future "
    "_get_work_registry_size _register_process_group _register_work _resolve_process_group _set_process_group _unregister_process_group",
    "weir has no collectives yet", lambda name: getattr(_distributed, name))
