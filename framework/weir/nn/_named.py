"""Modules that weir has not yet, as names that raise when used."""
from weir._absent import absent
from weir.nn.modules.module import Module

WORDS = frozenset("""AdaptiveLogSoftmaxWithLoss CTCLoss FractionalMaxPool2d FractionalMaxPool3d
    LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d
    LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear LinearCrossEntropyLoss
    LinearCrossEntropyOptions""".split())

UninitializedParameter = absent("nn.parameter.UninitializedParameter", "weir has no lazily shaped modules yet")
UninitializedBuffer = absent("nn.parameter.UninitializedBuffer", "weir has no lazily shaped modules yet")


class Container(Module):
    """A Module that holds modules. Deprecated in PyTorch."""

    def __init__(self, **kwargs):
        super().__init__()
        for name, value in kwargs.items():
            self.add_module(name, value)


def factory_kwargs(kwargs):
    """`device`, `dtype` and `memory_format` of kwargs, and what `factory_kwargs` in it holds; TypeError for others."""
    if kwargs is None:
        return {}
    known = {"device", "dtype", "memory_format"}
    unexpected = set(kwargs) - known - {"factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    inner = kwargs.get("factory_kwargs", {})
    twice = set(inner) & set(kwargs)
    if twice:
        raise TypeError(f"{twice} specified twice, in **kwargs and in factory_kwargs")
    return {**inner, **{k: v for k, v in kwargs.items() if k in known}}


def __getattr__(name):
    if name not in WORDS:
        raise AttributeError(f"module 'weir.nn._named' has no attribute '{name}'")
    globals()[name] = absent(f"nn.{name}", "weir does not have this module yet", Module)
    return globals()[name]
