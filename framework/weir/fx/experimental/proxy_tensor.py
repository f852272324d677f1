"""Tracing of tensors' own ops, which weir does not do."""
import contextlib

from weir._absent import absent as _absent, absent_names as _absent_names

make_fx = _absent("fx.experimental.proxy_tensor.make_fx", "weir traces functions, not ops: use fx.symbolic_trace")
ProxyTorchDispatchMode = _absent("fx.experimental.proxy_tensor.ProxyTorchDispatchMode", "weir has no dispatch modes")


__getattr__ = _absent_names("weir.fx.experimental.proxy_tensor", "_ProxyTensor _SymNodeDict decompose fetch_object_proxy fetch_sym_proxy "
                            "get_proxy_slot set_proxy_slot track_tensor track_tensor_tree proxy_call PythonKeyTracer",
                            "weir traces functions, not ops: use fx.symbolic_trace")


def get_proxy_mode():
    """The mode that traces. Never any."""
    return None


get_innermost_proxy_mode = get_proxy_mode


@contextlib.contextmanager
def disable_proxy_modes_tracing():
    """A scope without a mode that traces. Gives the one that was in force: none."""
    yield None
