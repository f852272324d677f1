"""`torch.cuda.amp.GradScaler`."""
from weir import amp as _amp
from weir.amp.grad_scaler import OptState, _refresh_per_optimizer_state  # noqa: F401


class GradScaler(_amp.GradScaler):
    """`torch.amp.GradScaler("cuda", ...)`, which is switched off where there is no GPU."""

    def __init__(self, init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _amp.autocast_mode.warn_of_old_name("cuda", "GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
