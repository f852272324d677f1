"""`torch._C._autograd`: hooks of saved tensors, and names of the profiler."""
from weir._absent import absent_names
from weir.autograd import graph as _graph
from weir.autograd.profiler import _profiler_enabled  # noqa: F401
from weir.profiler import DeviceType, kineto_available, supported_activities as _supported_activities  # noqa: F401


def _top_saved_tensors_default_hooks(ignore_is_tracing):
    """(pack, unpack) of the innermost saved_tensors_hooks, or None."""
    return _graph.hooks_in_force()


def _push_saved_tensors_default_hooks(pack_hook, unpack_hook):
    """As entering saved_tensors_hooks(pack_hook, unpack_hook); `_pop_saved_tensors_default_hooks` leaves it."""
    _graph.saved_tensors_hooks(pack_hook, unpack_hook).__enter__()


def _pop_saved_tensors_default_hooks():
    _graph.saved_tensors_hooks(None, None).__exit__()


__getattr__ = absent_names("weir._C._autograd", "CreationMeta ProfilerEvent SavedTensor TensorGeometry _InputMetadata _KinetoEvent _ProfilerResult "
                           "_enable_profiler _disable_profiler _prepare_profiler", "weir's profiles are made by weir.profiler")
