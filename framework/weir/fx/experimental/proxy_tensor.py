"""Tracing of tensors' own ops, which weir does not do."""
from weir._absent import absent as _absent

make_fx = _absent("fx.experimental.proxy_tensor.make_fx", "weir traces functions, not ops: use fx.symbolic_trace")
ProxyTorchDispatchMode = _absent("fx.experimental.proxy_tensor.ProxyTorchDispatchMode", "weir has no dispatch modes")


def get_proxy_mode():
    """The mode that traces. Never any."""
    return None
