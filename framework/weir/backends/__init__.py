"""Switches of back ends. A switch that only chooses among equal results can be set and is not looked at."""
import contextlib

from .._lazy import lazy_attributes

_MODULES = "cpu cuda cudnn mha miopen mkl mkldnn mps nnpack openmp opt_einsum quantized cusparselt kleidiai xeon xnnpack"

__getattr__ = lazy_attributes("weir.backends", {name: "" for name in _MODULES.split()})
fp32_precision = "none"


def switches(module, **defaults):
    """A context manager class that sets switches of a module for a scope and puts the old ones back."""
    class flags(contextlib.ContextDecorator):
        def __init__(self, *args, **chosen):
            self._chosen = {**defaults, **dict(zip(defaults, args)), **chosen}

        def __enter__(self):
            self._before = {name: module[name] for name in self._chosen if name in module}
            module.update(self._chosen)

        def __exit__(self, *exc):
            module.update(self._before)
    return flags
