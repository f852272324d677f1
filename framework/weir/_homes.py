"""Modules that PyTorch has for what weir keeps in other files: programs import them, see them in messages, and pickles name them."""
import sys
import types
from importlib.machinery import ModuleSpec

from ._absent import absent


def _missing(module):
    """Of the functions beside a class, which bear the module's name (`adagrad`, `_single_tensor_adagrad`): by name only."""
    def __getattr__(name):
        if not name.endswith(module.__name__.rpartition(".")[2]):
            raise AttributeError(f"module '{module.__name__}' has no attribute '{name}'")
        return absent(f"{module.__name__.partition('.')[2]}.{name}")
    return __getattr__


def enter(package, homes, shared=()):
    """Makes the modules `homes` of a package, each with the `shared` names and its own classes, which say from then on that they are from there."""
    for home, names in homes.items():
        kinds = {name: vars(package)[name] for name in names.split()}
        module = types.ModuleType(f"{package.__name__}.{home}", f"Names that PyTorch keeps in `{package.__name__.partition('.')[2]}.{home}`.")
        module.__dict__.update({**dict(shared), **kinds})
        module.__getattr__ = _missing(module)
        module.__spec__ = ModuleSpec(module.__name__, None)
        for kind in kinds.values():
            module.__file__ = sys.modules[kind.__module__].__file__  # where `inspect` finds the text
            kind.__module__ = module.__name__
        sys.modules[module.__name__] = module
        setattr(package, home, module)
