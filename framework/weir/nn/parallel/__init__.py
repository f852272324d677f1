"""Parallel modules. DataParallel without GPUs is its module; the distributed one raises until weir has collectives."""
from weir._absent import absent_names as _absent_names
from weir._lazy import lazy_attributes as _lazy_attributes

from .data_parallel import DataParallel, data_parallel  # noqa: F401
from .distributed import DistributedDataParallel  # noqa: F401

__getattr__ = _absent_names("weir.nn.parallel", "replicate scatter gather parallel_apply", "there is no CUDA back end",
                            _lazy_attributes("weir.nn.parallel", {"scatter_gather": "", "comm": ""}))
