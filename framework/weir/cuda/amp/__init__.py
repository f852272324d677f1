"""Mixed precision under the names from before `torch.amp`. Without a GPU the scaler and the scope are switched off."""
from .autocast_mode import autocast, custom_bwd, custom_fwd  # noqa: F401
from .grad_scaler import GradScaler  # noqa: F401
