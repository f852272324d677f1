"""Neural network modules, their functional forms, initialisation and utilities, under PyTorch's names."""

from . import functional, init, utils  # noqa: F401
from .modules import *  # noqa: F401,F403
from .parameter import Buffer, Parameter, UninitializedTensorMixin  # noqa: F401
from . import modules  # noqa: F401
