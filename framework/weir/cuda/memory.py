"""The memory functions of `torch.cuda` under their module's name."""
from . import (empty_cache, max_memory_allocated, max_memory_cached, max_memory_reserved, mem_get_info,  # noqa: F401
               memory_allocated, memory_cached, memory_reserved, memory_snapshot, memory_stats, memory_summary,
               reset_max_memory_allocated, reset_max_memory_cached, reset_peak_memory_stats,
               set_per_process_memory_fraction)
from . import __getattr__ as _of_package, _not_compiled

for _name in "_record_memory_history _snapshot _dump_snapshot _set_allocator_settings _save_memory_usage _save_segment_usage".split():
    globals()[_name] = _not_compiled(_name)


def __getattr__(name):
    """What the package has by name only."""
    return _of_package(name)
