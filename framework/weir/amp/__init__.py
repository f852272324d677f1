"""Automatic mixed precision: `with weir.autocast("cpu", dtype=weir.bfloat16): ...`"""
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available, is_autocast_enabled  # noqa: F401
from .grad_scaler import GradScaler  # noqa: F401
