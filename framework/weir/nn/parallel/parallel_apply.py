"""Copies and products over several GPUs, of which there are none."""
from weir._absent import absent_names as _absent_names

__getattr__ = _absent_names("weir.nn.parallel.parallel_apply", "parallel_apply get_a_var", "there is no CUDA back end")
