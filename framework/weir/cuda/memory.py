"""The memory functions of `torch.cuda` under their module's name."""
from . import (empty_cache, max_memory_allocated, max_memory_cached, max_memory_reserved, mem_get_info,  # noqa: F401
               memory_allocated, memory_cached, memory_reserved, memory_snapshot, memory_stats, memory_summary,
               reset_max_memory_allocated, reset_max_memory_cached, reset_peak_memory_stats,
               set_per_process_memory_fraction)
