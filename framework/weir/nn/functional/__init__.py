"""Functional forms of the modules, under PyTorch's names; by family in the files beside this one.

Source: torch.nn.functional's documented signatures. Arguments are checked before any work.
"""

from .activation import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .conv import *  # noqa: F401,F403
from .distance import *  # noqa: F401,F403
from .dropout import *  # noqa: F401,F403
from .grid import *  # noqa: F401,F403
from .linear import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .loss_margin import *  # noqa: F401,F403
from .loss_sequence import *  # noqa: F401,F403
from .norm import *  # noqa: F401,F403
from .pad import *  # noqa: F401,F403
from .pool import *  # noqa: F401,F403
from .pool_adaptive import *  # noqa: F401,F403
from .pool_fractional import *  # noqa: F401,F403
from .resize import *  # noqa: F401,F403
from .vision import *  # noqa: F401,F403
