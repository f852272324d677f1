"""Automatic mixed precision: `with weir.autocast("cpu", dtype=weir.bfloat16): ...`"""
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available, is_autocast_enabled  # noqa: F401


def __getattr__(name):
    if name not in ("GradScaler", "grad_scaler"):
        raise AttributeError(f"module 'weir.amp' has no attribute '{name}'")
    import importlib
    module = importlib.import_module("weir.amp.grad_scaler")  # few programs scale: who does pays for it
    return module if name == "grad_scaler" else module.GradScaler
