"""`torch.cuda` for a build without the CUDA back end: it answers as PyTorch's CPU build does, and nothing pretends."""
from collections import OrderedDict as _OrderedDict

from weir._absent import absent_names as _absent_names
from weir._lazy import lazy_attributes as _lazy_attributes

default_generators: tuple = ()
has_half, has_magma = True, False


def is_available():
    """Can tensors live on a GPU?"""
    return False


def device_count():
    """Number of GPUs."""
    return 0


def is_bf16_supported(including_emulation=True):
    return False


def is_tf32_supported():
    return False


_initialized = False  # libraries ask for it by this name


def is_initialized():
    return False


def is_current_stream_capturing():
    return False


def _is_compiled():
    """Is there a back end?"""
    return False


def _is_in_bad_fork():
    """Was this process forked after a GPU was used? None is."""
    return False


def _lazy_call(callable, **kwargs):
    """What would run when a GPU is first used: it never is."""


def _not_compiled(name):
    def refuse(*args, **kwargs):
        raise AssertionError("Torch not compiled with CUDA enabled")
    refuse.__name__, refuse.__doc__ = name, "AssertionError: there is no CUDA back end."
    return refuse


for _name in ("current_device current_stream default_stream synchronize init get_device_name get_device_capability "
              "get_device_properties set_device mem_get_info get_rng_state set_rng_state initial_seed ipc_collect "
              "current_blas_handle set_stream can_device_access_peer cudart get_stream_from_external utilization "
              "temperature power_draw clock_rate memory_usage list_gpu_processes get_sync_debug_mode "
              "set_sync_debug_mode set_per_process_memory_fraction get_per_process_memory_fraction "
              "memory_snapshot memory_summary caching_allocator_alloc caching_allocator_delete _sleep _lazy_init").split():
    globals()[_name] = _not_compiled(_name)


def manual_seed(seed):
    """Ignored without a GPU, as in PyTorch."""


def manual_seed_all(seed):
    """Ignored without a GPU, as in PyTorch."""


def seed():
    """Ignored without a GPU, as in PyTorch."""


def seed_all():
    """Ignored without a GPU, as in PyTorch."""


def empty_cache():
    """Nothing is cached where there is no GPU."""


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    for state in new_states:
        set_rng_state(state)  # noqa: F821  (from the loop above)


def get_arch_list():
    return []


def get_gencode_flags():
    return ""


def _zero(name):
    def zero(device=None):
        return 0
    zero.__name__, zero.__doc__ = name, "0: no GPU holds memory."
    return zero


for _name in ("memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached "
              "max_memory_cached").split():
    globals()[_name] = _zero(_name)


def memory_stats(device=None):
    return _OrderedDict()


def memory_stats_as_nested_dict(device=None):
    return {}


def reset_peak_memory_stats(device=None):
    """There is no statistic to reset."""


reset_max_memory_allocated = reset_max_memory_cached = reset_accumulated_memory_stats = reset_peak_memory_stats


class _Absent:
    def __new__(cls, *args, **kwargs):
        raise RuntimeError(f"Tried to instantiate dummy base class {cls.__name__}")


class Stream:
    """RuntimeError: there is no CUDA back end. Exists for annotations and isinstance."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError(f"torch.cuda.{cls.__name__} requires CUDA support")


class ExternalStream(Stream):
    """As Stream."""


class Event(_Absent):
    """RuntimeError: there is no CUDA back end. Exists for annotations, isinstance and programs that put other methods in the place of these."""

    def _refuse(self, *args, **kwargs):
        raise RuntimeError("Tried to instantiate dummy base class Event")

    record = wait = query = elapsed_time = synchronize = ipc_handle = from_ipc_handle = _refuse


class CUDAGraph(_Absent):
    """As Event."""

    capture_begin = capture_end = replay = reset = pool = Event._refuse


class OutOfMemoryError(RuntimeError):
    """Never raised here; programs name it in `except`."""


class CudaError(RuntimeError):
    """Never raised here; programs name it in `except`."""


class DeferredCudaCallError(Exception):
    """Never raised here; programs name it in `except`."""


class device:
    """The scope of a current GPU. Entering raises RuntimeError unless the device is None or negative."""

    def __init__(self, device):
        self.idx = -1 if device is None else device

    def __enter__(self):
        if self.idx != -1 and not (isinstance(self.idx, int) and self.idx < 0):
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, *exc):
        return False


class device_of(device):
    """The scope of a tensor's GPU; a CPU tensor changes nothing."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class StreamContext:
    """The scope of a stream; None is the only one there can be, and changes nothing."""

    def __init__(self, stream):
        if stream is not None:
            raise AssertionError("Torch not compiled with CUDA enabled")

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        return None


def stream(stream):
    return StreamContext(stream)


_TYPES = tuple(f"{t}{kind}" for t in ("BFloat16", "Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long",
                                      "Short", "ComplexDouble", "ComplexFloat") for kind in ("Tensor", "Storage"))


def _tensor_type(name):
    if name not in _TYPES:
        return _submodule(name)

    class TensorType(type):
        def __call__(cls, *args, **kwargs):
            raise TypeError(f"type torch.cuda.{name} not available. Torch not compiled with CUDA enabled.")
    globals()[name] = TensorType(name, (), {"__module__": "torch.cuda"})
    return globals()[name]


_submodule = _lazy_attributes("weir.cuda", {name: "" for name in ("amp", "nvtx", "memory", "random", "streams")})

__getattr__ = _absent_names(
    "weir.cuda", "CUDAPluggableAllocator change_current_allocator MemPool use_mem_pool graph graph_pool_handle "
    "make_graphed_callables jiterator get_allocator_backend GreenContext caching_allocator_enable "
    "caching_allocator_disabled host_memory_stats reset_peak_host_memory_stats check_error cudaStatus tunable gds "
    "device_memory_used current_solver_handle host_memory_stats_as_nested_dict reset_accumulated_host_memory_stats",
    "there is no CUDA back end", _tensor_type)
