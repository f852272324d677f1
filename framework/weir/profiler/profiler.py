"""Names under the module in which PyTorch keeps them."""
from . import *  # noqa: F401,F403
