"""`torch.cuda.amp.autocast` and the decorators of custom functions, which warn of their old names."""
from weir import amp as _amp
from weir.amp.autocast_mode import _cast, warn_of_old_name as _warn  # noqa: F401


class autocast(_amp.autocast):
    """`torch.autocast("cuda", ...)`, which warns and does nothing where there is no GPU."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        _warn("cuda", "autocast")
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    """torch.amp.custom_fwd of the device "cuda"."""
    _warn("cuda", "custom_fwd")
    return _amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd):
    """torch.amp.custom_bwd of the device "cuda"."""
    _warn("cuda", "custom_bwd")
    return _amp.custom_bwd(bwd, device_type="cuda")
