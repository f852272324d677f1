"""Optimizers and learning rate schedules, under PyTorch's names."""

from . import lr_scheduler  # noqa: F401
from .adaptive import Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop  # noqa: F401
from .adam import Adam, AdamW  # noqa: F401
from .lbfgs import LBFGS  # noqa: F401
from .matrix import Adafactor, Muon, SparseAdam  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .sgd import SGD  # noqa: F401
from .sign import ASGD, Rprop  # noqa: F401

#: module of PyTorch -> classes that it holds
_HOMES = {"adadelta": "Adadelta", "adagrad": "Adagrad", "adamax": "Adamax", "adamw": "AdamW", "asgd": "ASGD", "nadam": "NAdam", "radam": "RAdam",
          "rmsprop": "RMSprop", "rprop": "Rprop", "sparse_adam": "SparseAdam"}


def _enter_homes():
    import sys

    from .._homes import enter
    Adafactor.__module__ = Muon.__module__ = __name__  # as PyTorch says of them
    enter(sys.modules[__name__], _HOMES)


_enter_homes()


def __getattr__(name):
    """Optimizers imported when first used, and those that weir has only by name."""
    import importlib
    if name == "LAMB":
        value = importlib.import_module("weir.optim.lamb").LAMB
    elif name == "swa_utils":
        return importlib.import_module("weir.optim.swa_utils")
    elif name == "swap_in_optimizer_params_and_state":
        from weir._absent import absent
        value = absent(f"optim.{name}")
    else:
        raise AttributeError(f"module 'weir.optim' has no attribute '{name}'")
    globals()[name] = value
    return value
