"""The current accelerator, whichever kind: none in this build."""
from ._absent import absent_names as _absent_names


def is_available():
    return False


def device_count():
    return 0


def current_accelerator(check_available=False):
    """The accelerator's device; None where there is none."""
    return None


def _none(name):
    def refuse(*args, **kwargs):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    refuse.__name__, refuse.__doc__ = name, "RuntimeError: there is no accelerator."
    return refuse


for _name in ("synchronize current_stream set_stream current_device_index current_device_idx set_device_index "
              "set_device_idx empty_cache memory_allocated memory_reserved memory_stats max_memory_allocated "
              "max_memory_reserved reset_peak_memory_stats reset_accumulated_memory_stats get_memory_info "
              "get_device_capability empty_host_cache").split():
    globals()[_name] = _none(_name)

__getattr__ = _absent_names("weir.accelerator", "device_index Graph memory graphs", "there is no accelerator")

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
