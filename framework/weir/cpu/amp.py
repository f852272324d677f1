"""`torch.cpu.amp`: autocast and the scaler under their old names, which warn of it."""
from weir.amp import GradScaler as _GradScaler, autocast as _autocast
from weir.amp.autocast_mode import warn_of_old_name as _warn


class autocast(_autocast):
    """torch.amp.autocast("cpu", ...)."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        _warn("cpu", "autocast")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """torch.amp.GradScaler("cpu", ...)."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn("cpu", "GradScaler")
        super().__init__("cpu", init_scale=init_scale, growth_factor=growth_factor, backoff_factor=backoff_factor,
                         growth_interval=growth_interval, enabled=enabled)

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
