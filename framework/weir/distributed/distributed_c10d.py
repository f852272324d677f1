"""Names of `torch.distributed` under the module in which PyTorch keeps them, and what libraries ask of its private ones."""
import datetime
import pickle

from weir._absent import absent_names

from . import (Backend, GroupMember, ReduceOp, Work, group, is_available, is_initialized, is_mpi_available,  # noqa: F401
               is_nccl_available, is_gloo_available, is_ucc_available, is_xccl_available)
from . import _WHY, _absent_name

default_pg_timeout = default_pg_nccl_timeout = datetime.timedelta(minutes=30)
_GLOO_AVAILABLE = _MPI_AVAILABLE = _NCCL_AVAILABLE = _UCC_AVAILABLE = _XCCL_AVAILABLE = False
_pickler, _unpickler = pickle.Pickler, pickle.Unpickler
_pg_map, _pg_names, _pg_group_ranks, _pg_backend_config = {}, {}, {}, {}  # of no process group


def _get_default_group():
    """ValueError, as in PyTorch before `init_process_group`."""
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


_get_default_store = _get_default_group


def _rank_not_in_group(group):  # noqa: F811
    """Whether this process is outside the group: only where it says so itself."""
    return group == GroupMember.NON_GROUP_MEMBER


class _World:
    """The process groups: none."""

    default_pg = None
    pg_map, pg_names, pg_group_ranks, pg_backend_config = _pg_map, _pg_names, _pg_group_ranks, _pg_backend_config


_world = _World()

__getattr__ = absent_names(
    "weir.distributed.distributed_c10d", """_resolve_process_group _get_global_rank _new_process_group_helper _get_process_group_store _ProcessGroupWrapper
    _object_to_tensor _tensor_to_object _warn_not_in_group _get_object_coll_device _get_default_timeout _unregister_process_group
    _register_process_group _get_process_group_name _get_group_size _store_based_barrier _get_pg_default_device _find_pg_by_ranks_and_tag
    _coalescing_manager _CollOp""", _WHY, _absent_name)
