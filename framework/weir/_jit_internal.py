"""Names of TorchScript that libraries import from here. They change nothing: nothing is compiled."""
import weakref
from typing import Any, Dict, Final, List, Optional, Tuple, Union  # noqa: F401

from .futures import Future  # noqa: F401
from .jit import (_overload, _overload_method, export, ignore, is_scripting, script, unused)  # noqa: F401


class BroadcastingListCls:
    """`BroadcastingList2[int]`: in annotations, one value or a list of that length."""

    def __getitem__(self, types):
        return None


BroadcastingList1 = BroadcastingListCls()
for _i in range(2, 7):
    globals()[f"BroadcastingList{_i}"] = BroadcastingList1


boolean_dispatched = weakref.WeakKeyDictionary()  # function -> what boolean_dispatch made it of


def _copy_to_script_wrapper(fn):
    """fn: no wrapper is made of its module."""
    return fn


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that calls if_true or if_false, as its argument `arg_name` says."""
    def fn(*args, **kwargs):
        chosen = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if chosen else if_false)(*args, **kwargs)
    fn.__name__ = func_name or fn.__name__
    boolean_dispatched[fn] = {"if_true": if_true, "if_false": if_false, "index": arg_index, "default": default, "arg_name": arg_name}
    return fn
