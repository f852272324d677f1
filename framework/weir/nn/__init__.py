"""Neural network modules, their functional forms, initialisation and utilities, under PyTorch's names."""

from . import functional, init, utils  # noqa: F401
from .modules import *  # noqa: F401,F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter, UninitializedTensorMixin  # noqa: F401
from . import modules  # noqa: F401


def __getattr__(name):
    """Modules of the package that are imported when first used, and names that live in them."""
    import importlib
    if name in ("parallel", "common_types", "backends", "attention", "grad", "quantized", "intrinsic", "qat", "quantizable", "cpp",
                "graph", "_reduction"):
        return importlib.import_module(f"weir.nn.{name}")
    origin = {"DataParallel": "parallel", "Graph": "graph", "factory_kwargs": "_named", "Container": "_named"}.get(name)
    if origin is None:
        raise AttributeError(f"module 'weir.nn' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"weir.nn.{origin}"), name)
    globals()[name] = value
    return value
