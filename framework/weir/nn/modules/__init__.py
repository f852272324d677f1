"""All modules, by family in the files beside this one."""

from .activation import *  # noqa: F401,F403
from .adaptive import *  # noqa: F401,F403
from .attention import *  # noqa: F401,F403
from .batchnorm import *  # noqa: F401,F403
from .container import *  # noqa: F401,F403
from .conv import *  # noqa: F401,F403
from .distance import *  # noqa: F401,F403
from .dropout import *  # noqa: F401,F403
from .fractional import *  # noqa: F401,F403
from .lazy import *  # noqa: F401,F403
from .linear import *  # noqa: F401,F403
from .loss import *  # noqa: F401,F403
from .loss_margin import *  # noqa: F401,F403
from .loss_sequence import *  # noqa: F401,F403
from .module import Module  # noqa: F401
from .normalization import *  # noqa: F401,F403
from .padding import *  # noqa: F401,F403
from .parameter_container import *  # noqa: F401,F403
from .pooling import *  # noqa: F401,F403
from .resize import *  # noqa: F401,F403
from .rnn import *  # noqa: F401,F403
from .sparse import *  # noqa: F401,F403
from .transformer import *  # noqa: F401,F403

__all__ = [name for name, value in vars().items() if isinstance(value, type)]


def __getattr__(name):
    """The files that nothing here imports, as attributes of the package, as they are PyTorch's."""
    import importlib.util
    if name.startswith("__") or importlib.util.find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module 'torch.nn.modules' has no attribute '{name}'")
    return importlib.import_module(f"{__name__}.{name}")
