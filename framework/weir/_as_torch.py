"""`import torch` answered by weir: a finder of modules, and the record of names that programs asked for in vain."""
import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
import types

import weir

from .torch_version import API_VERSION, TorchVersion


class _Loader(importlib.abc.Loader):
    """Hands out the module of weir in the place of the one asked for."""

    def __init__(self, module):
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec  # the import system wrote the other name's

    def get_code(self, fullname):
        return self._spec.loader.get_code(self._spec.name)  # `python -m torch.x`


class _Distribution(importlib.metadata.Distribution):
    """What libraries learn that ask the package list for torch's version."""

    def read_text(self, filename):
        return f"Metadata-Version: 2.1\nName: torch\nVersion: {API_VERSION}\n" if filename in ("METADATA", "PKG-INFO") else None

    def locate_file(self, path):
        return path


def _is_pytorchs(name):
    return name in ("torch", "functorch") or name.startswith(("torch.", "functorch."))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `torch`, `torch.x.y` and `functorch` as weir's modules. What weir has not is not found: ModuleNotFoundError."""

    def find_spec(self, fullname, path=None, target=None):
        if not _is_pytorchs(fullname):
            return None
        name = ("weir._functorch.deprecated" if fullname == "functorch" else "weir._" + fullname if fullname.startswith("functorch.")
                else "weir" + fullname[len("torch"):])
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise  # a dependency of the module is missing, which is another matter
            note_missing(fullname)
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname) from None
        if _recording:
            _record(module)
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=hasattr(module, "__path__"))

    def find_distributions(self, context=importlib.metadata.DistributionFinder.Context()):
        return iter([_Distribution()] if context.name in (None, "torch") else [])

    def invalidate_caches(self):
        """Nothing is cached."""


class as_torch:
    """From the call on, or inside `with`, `import torch` and its submodules give weir's.

    `torch.__version__` then names the API level, "2.13.0+weir". With `missing`, names that a program looked up in vain
    are gathered: see `missing_names`. A torch that was imported before is set aside, and restored at the end of `with`.
    """

    def __init__(self, missing=False):
        global _recording
        self._set_aside = {n: sys.modules.pop(n) for n in list(sys.modules) if _is_pytorchs(n)}
        self._version, self._finder = weir.__version__, _Finder()
        weir.__version__ = TorchVersion(API_VERSION)
        weir.__name__ = "torch"  # which libraries look at
        weir._C._name_as_torch(True)
        sys.meta_path.insert(0, self._finder)
        # Those that are loaded are found without an import, which would put a module over the function of its name beside it.
        sys.modules.update({"torch" + name[len("weir"):]: module for name, module in list(sys.modules.items())
                            if name == "weir" or name.startswith("weir.")})
        if missing:
            _recording = True
            for name, module in list(sys.modules.items()):
                if name == "weir" or name.startswith("weir."):
                    _record(module)

    def __enter__(self):
        return weir

    def __exit__(self, *exc):
        sys.meta_path.remove(self._finder)
        for name in [n for n in sys.modules if _is_pytorchs(n)]:
            del sys.modules[name]
        sys.modules.update(self._set_aside)
        weir.__version__ = self._version
        weir.__name__ = "weir"
        weir._C._name_as_torch(False)


_recording = False
_missing: dict = {}  # name -> how often it was looked up


def note_missing(name):
    """Counts a name that was asked for and is not there."""
    _missing[name] = _missing.get(name, 0) + 1


def missing_names():
    """name -> how often a program looked it up in vain, where `as_torch(missing=True)` is in force."""
    return dict(_missing)


class _Recorded(types.ModuleType):
    """A module that notes the attributes it has not. Only while recording: a plain module answers faster."""

    def __getattr__(self, name):
        if not (name.startswith("__") and name.endswith("__")):
            note_missing(self.__name__.replace("weir", "torch", 1) + "." + name)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")


def _record(module):
    if type(module) is types.ModuleType:
        module.__class__ = _Recorded
