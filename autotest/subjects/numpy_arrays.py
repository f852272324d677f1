"""NumPy, through the array API standard, under PyTorch's names: `weir-autotest run --subject weir_autotest.subjects.numpy_arrays`.

What NumPy lacks (gradients, in-place forms, most of `nn.functional`) is left out here and counted as UNSUPPORTED.
"""

import contextlib
import sys
import types

import array_api_compat.numpy as xp
import numpy as np

from .array_api import NAMES, in_their_words

__version__ = np.__version__
globals().update({name: np.dtype(name) for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()})
no_grad = contextlib.nullcontext


class Tensor(np.ndarray):
    """An array with the few methods the harness itself calls."""

    detach = requires_grad_ = lambda self, *_: self
    stride = lambda self: tuple(step // self.itemsize for step in self.strides)
    numel = lambda self: self.size
    clone = lambda self: self.copy()
    contiguous = lambda self: np.ascontiguousarray(self).reshape(self.shape).view(Tensor)
    numpy = lambda self: self.view(np.ndarray)
    fill_ = lambda self, number: self.fill(number)
    data_ptr = lambda self: self.__array_interface__["data"][0]

    def storage_offset(self):
        root = self
        while isinstance(root.base, np.ndarray):
            root = root.base
        return (self.data_ptr() - root.__array_interface__["data"][0]) // self.itemsize


def from_numpy(array):
    return array.view(Tensor)


def as_strided(base, size, stride, offset):
    steps = [step * base.itemsize for step in stride]
    return np.ndarray.__new__(Tensor, size, base.dtype, base, offset * base.itemsize, steps)


def _adapted(name, function):
    def call(*args, **keywords):
        args, keywords = in_their_words(name, args, keywords)
        try:
            result = function(*args, **keywords)
            return _tensors(result) if keywords.get("out") is None else keywords["out"]
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise NotImplementedError(f"{name}: {error}") from None  # a parameter that the standard lacks

    return call


def _tensors(result):
    if isinstance(result, (tuple, list)):
        return type(result)(map(_tensors, result)) if type(result) in (tuple, list) else tuple(map(_tensors, result))
    return np.asarray(result).view(Tensor) if isinstance(result, (np.ndarray, np.generic)) else result


class _Functions(types.ModuleType):
    def __getattr__(self, name):
        function = getattr(xp, NAMES.get(name, name), None)
        if not callable(function) or isinstance(function, type):
            raise AttributeError(f"NumPy's array API has no {name}")
        return _adapted(name, function)


sys.modules[__name__].__class__ = _Functions
