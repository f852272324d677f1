"""The device of new tensors: `set_default_device`, and a device as a context manager.

Factory functions read no global of their own. While the device is not the CPU, those of the package are replaced by
ones that add `device=`; the usual case pays nothing. What a program took by `from torch import zeros` before stays as it was.
"""
import functools
import threading

import weir
from _weir import _warn_once

#: Source: torch.utils._device._device_constructors.
_FACTORIES = """arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye full hamming_window hann_window
    kaiser_window linspace logspace ones rand randint randn randperm scalar_tensor tensor tril_indices triu_indices zeros""".split()
_local = threading.local()
_plain = {name: getattr(weir, name) for name in _FACTORIES}


def get_default_device():
    """The device on which new tensors are made unless told."""
    stack = getattr(_local, "stack", None)
    return stack[-1] if stack else _global[0]


def set_default_device(device):
    """Makes new tensors on `device` from now on; None means the CPU. Source: torch.set_default_device."""
    _global[0] = _checked(device)
    _replace()


def set_default_tensor_type(t):
    """Sets the default dtype by a type's name such as torch.DoubleTensor. TypeError unless it is floating."""
    from ._tensor_types import dtype_of
    _warn_once("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and torch.set_default_device() "
               "as alternatives.")
    weir.set_default_dtype(dtype_of(t))


def _checked(device):
    device = weir.device("cpu" if device is None else device)
    if device.type not in ("cpu", "meta"):
        raise RuntimeError(f"set_default_device: this build has 'cpu' and 'meta', got '{device}'")
    return device


_global = [weir.device("cpu")]


def _with_device(function):
    @functools.wraps(function)
    def make(*args, device=None, **kwargs):
        return function(*args, device=get_default_device() if device is None else device, **kwargs)
    return make


def _replace():
    plain = get_default_device().type == "cpu" and _global[0].type == "cpu"
    for name, function in _plain.items():
        setattr(weir, name, function if plain else _with_device(function))


def enter(device):
    """`with device:` begins."""
    if not hasattr(_local, "stack"):
        _local.stack = []
    _local.stack.append(_checked(device))
    _replace()
    return device


def leave(device, *exc):
    """`with device:` ends."""
    _local.stack.pop()
    _replace()


def decorate(device, function):
    """`device(function)`: the function runs inside `with device:`."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        with device:
            return function(*args, **kwargs)
    return wrapped
