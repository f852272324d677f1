"""Spreading arguments over GPUs, of which there are none."""
from weir._absent import absent_names as _absent_names


def is_namedtuple(obj):
    """Is obj a named tuple?"""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


__getattr__ = _absent_names("weir.nn.parallel.scatter_gather", "scatter gather scatter_kwargs", "there is no CUDA back end")
