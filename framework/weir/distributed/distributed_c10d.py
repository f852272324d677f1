"""Names of `torch.distributed` under the module in which PyTorch keeps them."""
from . import Backend, GroupMember, ReduceOp, group, is_available, is_initialized  # noqa: F401


def __getattr__(name):
    from . import _absent_name
    return _absent_name(name)
