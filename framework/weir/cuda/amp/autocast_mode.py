"""`torch.cuda.amp.autocast` and the decorators of custom functions."""
import functools

from weir import amp as _amp


class autocast(_amp.autocast):
    """`torch.autocast("cuda", ...)`, which warns and does nothing where there is no GPU."""

    def __init__(self, enabled=True, dtype=None, cache_enabled=True):
        super().__init__("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


custom_fwd = functools.partial(_amp.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(_amp.custom_bwd, device_type="cuda")
