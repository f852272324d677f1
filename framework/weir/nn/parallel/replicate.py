"""Copies and products over several GPUs, of which there are none."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.nn.parallel.replicate", "replicate", "there is no CUDA back end")
