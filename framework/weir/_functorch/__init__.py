"""The home of `torch.func` in PyTorch."""
from weir.func import *  # noqa: F401,F403
