"""Names under the module in which PyTorch keeps them."""
from . import *  # noqa: F401,F403
from . import _default_schedule_fn, _ExperimentalConfig, _KinetoProfile  # noqa: F401
