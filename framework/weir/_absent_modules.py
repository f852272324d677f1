"""Modules of PyTorch's that weir has not: they import, and what a program takes from them raises NotImplementedError when used,
but for what the package around them has.

`_absent_modules.txt` lists them, private ones too (scripts/update_absent_modules.py): a program that asks for a module which PyTorch has not either
gets a ModuleNotFoundError, as there.
"""
import functools
import importlib
import importlib.machinery
import os
import sys
import types

from ._absent import member

#: What is missing, by the longest path that a module begins with.
_REASONS = {
    "": "weir does not have it", "_inductor": "weir has no compiler of PyTorch's kind", "_dynamo": "weir has no graph capture of PyTorch's kind",
    "_functorch": "weir has no graphs of gradients of PyTorch's kind", "_subclasses": "weir has no fake tensors; use device 'meta'",
    "distributed": "weir has no collectives yet", "ao": "weir has no quantised tensors",
    "quantization": "weir has no quantised tensors", "nn.quantized": "weir has no quantised tensors",
    "nn.intrinsic": "weir has no quantised tensors", "nn.qat": "weir has no quantised tensors",
    "nn.quantizable": "weir has no quantised tensors", "nested": "weir has no nested tensors",
    "masked.maskedtensor": "weir has no masked tensors", "onnx": "weir exports no ONNX", "export": "weir exports no graphs yet",
    "package": "weir writes no packages of code", "monitor": "weir keeps no counters", "cuda": "there is no CUDA back end",
    "nn.parallel": "there is no CUDA back end",
    "nn.attention.flex_attention": "weir has no flexible attention yet",
}

#: Decorators: programs apply them at import, so it is the function they decorate that raises.
_DECORATORS = {"distributed.rpc.api._require_initialized"}


def reason(path):
    """Why the module `path`, counted from the package, has names only."""
    while path not in _REASONS:
        path = path.rpartition(".")[0]
    return _REASONS[path]


@functools.cache
def _listed():
    with open(os.path.splitext(__file__)[0] + ".txt") as file:
        return frozenset(file.read().split())


def is_listed(path):
    """Whether weir has only the name of the module."""
    return path in _listed()


def _is_package(path):
    return any(other.startswith(path + ".") for other in _listed())


class Named(types.ModuleType):
    """A module any name of which is a stand-in."""

    def __getattr__(self, name):
        path = self.__name__.partition(".")[2]
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if is_listed(f"{path}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        # What PyTorch keeps in a file of its own, weir may have in the package: optim.adagrad.Adagrad is optim.Adagrad.
        package = sys.modules[self.__name__.rpartition(".")[0]]
        if not _is_package(path) and not isinstance(package, Named) and hasattr(package, name):
            value = getattr(package, name)
        elif f"{path}.{name}" in _DECORATORS:
            def value(function):
                return functools.wraps(function)(functools.partial(self, of=f"torch.{path}.{name}"))
        else:
            value = member(f"{path}.{name}", reason(path))
        setattr(self, name, value)
        return value

    def __call__(self, *args, of=None, **kwargs):
        """For modules that share their name with a function, and for functions under a decorator `of` theirs."""
        path = self.__name__.partition(".")[2]
        raise NotImplementedError(f"{of or f'torch.{path}'}: {reason(path)}")


class _Loader:
    def create_module(self, spec):
        return Named(spec.name)

    def exec_module(self, module):
        module.__doc__ = f"Names only: {reason(module.__name__.partition('.')[2])}."

    def get_code(self, fullname):
        """`python -m torch.x`."""
        path = fullname.partition(".")[2]
        return compile(f"raise NotImplementedError({f'torch.{path}: {reason(path)}'!r})", f"<{fullname}>", "exec")


class Finder:
    """The last finder to be asked, so that modules with a file come first."""

    def find_spec(self, fullname, path=None, target=None):
        here, _, name = fullname.partition(".")
        if here != "weir" or not is_listed(name):
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=_is_package(name))


def install():
    """Makes the modules importable, once."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())
