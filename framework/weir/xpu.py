"""Intel's GPUs, which this build does not use."""


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
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
set_device = get_rng_state = set_rng_state = init = mem_get_info = _refuse


class Stream:
    """RuntimeError: there is no XPU back end."""

    def __new__(cls, *args, **kwargs):
        raise RuntimeError("torch.xpu.Stream requires XPU support")


class Event(Stream):
    """As Stream."""

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
