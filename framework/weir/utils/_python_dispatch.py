"""Dispatch modes, which weir has not."""
import contextlib

from weir._absent import absent as _absent, absent_names as _absent_names

TorchDispatchMode = _absent("utils._python_dispatch.TorchDispatchMode", "weir has no dispatcher of PyTorch's kind")
__getattr__ = _absent_names("weir.utils._python_dispatch", "return_and_correct_aliasing _pop_mode_temporarily", "weir has no dispatcher of PyTorch's kind")
_get_current_dispatch_mode_stack = list


def _get_current_dispatch_mode():
    return None


@contextlib.contextmanager
def _disable_current_modes():
    """A scope without modes. Gives those that were in force: none."""
    yield []


def is_traceable_wrapper_subclass(t):
    return False
