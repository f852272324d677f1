"""Parallel modules. DataParallel without GPUs is its module; the distributed one raises until weir has collectives."""
from .data_parallel import DataParallel, data_parallel  # noqa: F401
from .distributed import DistributedDataParallel  # noqa: F401


def __getattr__(name):
    if name in ("replicate", "scatter", "gather", "parallel_apply", "scatter_gather", "comm"):
        from weir._absent import absent
        return absent(f"nn.parallel.{name}", "there is no CUDA back end")
    raise AttributeError(f"module 'weir.nn.parallel' has no attribute '{name}'")
