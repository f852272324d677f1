"""Intel's GPUs, which this build does not use: it answers as PyTorch's CPU build does, as `torch.cuda` does."""
from weir import cuda as _cuda
from weir._absent import absent_names as _absent_names

default_generators: tuple = ()


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def is_current_stream_capturing():
    return False


def _is_compiled():
    return False


def manual_seed(seed):
    """Ignored without the back end, as in PyTorch."""


def manual_seed_all(seed):
    """Ignored without the back end, as in PyTorch."""


def empty_cache():
    """Nothing is cached where there is no GPU."""


def _refuse(*args, **kwargs):
    raise AssertionError("Torch not compiled with XPU enabled")


current_device = synchronize = get_device_name = get_device_properties = get_device_capability = current_stream = _refuse
set_device = get_rng_state = set_rng_state = init = mem_get_info = initial_seed = set_stream = _refuse
memory_allocated, max_memory_allocated = _cuda.memory_allocated, _cuda.max_memory_allocated
memory_reserved, max_memory_reserved = _cuda.memory_reserved, _cuda.max_memory_reserved
memory_stats, reset_peak_memory_stats, reset_accumulated_memory_stats = _cuda.memory_stats, _cuda.reset_peak_memory_stats, _cuda.reset_peak_memory_stats
get_rng_state_all, _is_in_bad_fork, _lazy_call = _cuda.get_rng_state_all, _cuda._is_in_bad_fork, _cuda._lazy_call


def set_rng_state_all(new_states):
    """There is a state for each GPU, of which there is none."""
    for state in new_states:
        set_rng_state(state)


class Stream:
    """RuntimeError: there is no XPU back end."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError("torch.xpu.Stream requires XPU support")


class Event(Stream):
    """As Stream."""


class device(_cuda.device):
    """The scope of a current GPU. Entering raises NotImplementedError unless the device is None or negative."""

    def __enter__(self):
        try:
            super().__enter__()
        except RuntimeError:
            raise NotImplementedError("PyTorch was compiled without XPU support") from None


class StreamContext(_cuda.StreamContext):
    """The scope of a stream; None is the only one there can be, and changes nothing."""


def stream(stream):
    return StreamContext(stream)


__getattr__ = _absent_names("weir.xpu", "XPUGraph graph graph_pool_handle make_graphed_callables MemPool use_mem_pool get_stream_from_external",
                            "there is no XPU back end")
__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
