"""Names of PyTorch's graph capture. Nothing is captured here, so settings and marks change nothing."""
from weir._absent import absent as _absent
from weir.compiler import allow_in_graph, assume_constant_result, disable, is_compiling, list_backends, reset  # noqa: F401

from . import config  # noqa: F401
from .eval_frame import OptimizedModule, optimize  # noqa: F401


def forbid_in_graph(fn):
    return fn


def disallow_in_graph(fn):
    return fn


def graph_break(msg=""):
    """There is no graph to break."""


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Sizes are never fixed here."""


def mark_static(t, index=None):
    """Sizes are never fixed here."""


def mark_static_address(t, guard=False):
    """A plan reads tensors from outside where they lie, always."""


maybe_mark_dynamic = mark_unbacked = mark_dynamic


def run(fn=None):
    return fn


def reset_code_caches():
    """There are none."""


export = _absent("_dynamo.export", "weir has no graph capture")
explain = _absent("_dynamo.explain", "weir has no graph capture")
register_backend = _absent("_dynamo.register_backend", "weir has no compiler")
lookup_backend = _absent("_dynamo.lookup_backend", "weir has no compiler")
