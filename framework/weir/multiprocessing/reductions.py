"""Names under the module in which PyTorch keeps them."""
from .shared import init_reductions, rebuild_tensor, reduce_tensor  # noqa: F401
from weir._absent import absent as _absent, absent_names as _absent_names

rebuild_cuda_tensor = _absent("multiprocessing.reductions.rebuild_cuda_tensor", "there is no CUDA back end")
__getattr__ = _absent_names("weir.multiprocessing.reductions", "StorageWeakRef", "weir does not tell when a storage is gone")
