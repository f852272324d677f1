"""Dispatch modes, which weir has not."""
from weir._absent import absent as _absent

TorchDispatchMode = _absent("utils._python_dispatch.TorchDispatchMode", "weir has no dispatcher of PyTorch's kind")
_get_current_dispatch_mode_stack = list


def _get_current_dispatch_mode():
    return None


def is_traceable_wrapper_subclass(t):
    return False
