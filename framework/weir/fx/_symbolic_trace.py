"""Names under the module in which PyTorch keeps them."""
from ._compatibility import compatibility  # noqa: F401
from .tracer import Tracer, symbolic_trace, wrap  # noqa: F401


def is_fx_tracing():
    """Does a trace run?"""
    import weir
    return getattr(weir.nn.Module.__call__, "__name__", "") == "module_call"


is_fx_symbolic_tracing = is_fx_tracing
