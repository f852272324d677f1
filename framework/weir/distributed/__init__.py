"""Processes that compute together, which weir does not have yet: `is_available()` is False and the rest raises.

Where PyTorch's names are enumerations or classes that programs use at import time, they are here.
"""
import enum as _enum

from weir._absent import absent as _absent, absent_names as _absent_names
from weir._lazy import lazy_attributes as _lazy_attributes

_WHY = "weir has no collectives yet"


def is_available():
    """Can `init_process_group` work? Not yet."""
    return False


def is_initialized():
    """Is there a process group? Never."""
    return False


def is_mpi_available():
    return False


is_nccl_available = is_gloo_available = is_ucc_available = is_xccl_available = is_mpi_available


def is_torchelastic_launched():
    return False


def is_backend_available(backend):
    return False


class ReduceOp(_enum.Enum):
    """How values of several processes become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


ReduceOp.RedOpType = ReduceOp  # in PyTorch the members are of that type, and instances of this one too


class Backend(str):
    """The name of a back end."""

    UNDEFINED, GLOO, NCCL, UCC, MPI, XCCL = "undefined", "gloo", "nccl", "ucc", "mpi", "xccl"
    default_device_backend_map = {"cpu": GLOO, "cuda": NCCL, "xpu": XCCL, "mps": GLOO}

    def __new__(cls, name):
        return super().__new__(cls, name.lower())


class GroupMember:
    """Marks of who is in a group."""

    WORLD, NON_GROUP_MEMBER = None, -100


class group:
    """The group of all processes."""

    WORLD = None


reduce_op = ReduceOp


class Work:
    """A collective that runs. Never made here; programs name it in annotations."""


class DistError(RuntimeError):
    """Base of the errors below; programs name them in `except`."""


class DistBackendError(DistError):
    """Never raised here."""


class DistNetworkError(DistError):
    """Never raised here."""


class DistStoreError(DistError):
    """Never raised here."""


class QueueEmptyError(DistStoreError):
    """Never raised here."""


_NAMES = """init_process_group destroy_process_group new_group new_subgroups new_subgroups_by_enumeration get_rank
    get_world_size get_backend get_backend_config barrier monitored_barrier all_reduce all_reduce_coalesced all_gather
    all_gather_object all_gather_into_tensor all_gather_coalesced all_to_all all_to_all_single broadcast
    broadcast_object_list gather gather_object reduce reduce_scatter reduce_scatter_tensor scatter scatter_object_list send
    recv isend irecv send_object_list recv_object_list batch_isend_irecv P2POp get_process_group_ranks get_group_rank
    get_global_rank get_node_local_rank ProcessGroup ProcessGroupGloo ProcessGroupNCCL ProcessGroupMPI Store TCPStore
    FileStore HashStore PrefixStore Logger Reducer BuiltinCommHookType DebugLevel get_debug_level set_debug_level
    set_debug_level_from_env supports_complex get_default_backend_for_device register_rendezvous_handler rendezvous
    init_device_mesh DeviceMesh split_group shrink_group GradBucket AllreduceOptions breakpoint get_pg_count
    AllreduceCoalescedOptions AllToAllOptions BarrierOptions BroadcastOptions GatherOptions ReduceOptions
    ReduceScatterOptions ScatterOptions BackendConfig GroupName all_gather_single reduce_scatter_single record_comm _all_gather_base _reduce_scatter_base
    _broadcast_coalesced _make_nccl_premul_sum _remote_device _get_process_group_name _rank_not_in_group"""

_absent_name = _absent_names("weir.distributed", _NAMES, _WHY, _lazy_attributes("weir.distributed", {
    n: "" for n in "algorithms c10d_logger checkpoint device_mesh distributed_c10d elastic fsdp nn optim rpc run tensor utils "
                   "_composable _tensor _shard pipelining launch".split()}))


def __getattr__(name):
    return _absent_name(name)
