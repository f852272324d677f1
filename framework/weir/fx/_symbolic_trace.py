"""Names under the module in which PyTorch keeps them."""
import functools  # noqa: F401  (libraries take it from here)
from types import FunctionType  # noqa: F401

from weir import Tensor  # noqa: F401
from weir._C import ScriptObject  # noqa: F401

from ._compatibility import compatibility  # noqa: F401
from ._patching import _autowrap_check, _patch_wrapped_functions, _Patcher, _wrapped  # noqa: F401
from ._proxyable import _proxyable_classes, ProxyableClassMeta  # noqa: F401
from .graph import Graph  # noqa: F401
from .graph_module import GraphModule  # noqa: F401
from .proxy import Proxy  # noqa: F401
from .tracer import Tracer, _orig_module_call, _orig_module_getattr, symbolic_trace, wrap  # noqa: F401


def is_fx_tracing():
    """Does a trace run?"""
    import weir
    return getattr(weir.nn.Module.__call__, "__name__", "") == "module_call"


is_fx_symbolic_tracing = is_fx_tracing


@wrap
def _assert_is_none(value, msg):
    """AssertionError with `msg` for a value other than None; a call of it is a node."""
    if value is not None:
        raise AssertionError(msg)
