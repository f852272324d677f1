"""Apple's GPUs, which this build does not use."""


def is_available():
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Ignored without the back end, as in PyTorch."""


def seed():
    """Ignored without the back end, as in PyTorch."""


def _refuse(*args, **kwargs):
    raise RuntimeError("Cannot use the MPS backend: this build does not have it.")


empty_cache = synchronize = current_allocated_memory = driver_allocated_memory = recommended_max_memory = _refuse
set_per_process_memory_fraction = get_rng_state = set_rng_state = compile_shader = _refuse


class Event:
    """RuntimeError: there is no MPS back end."""

    def __init__(self, *args, **kwargs):
        _refuse()

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
