"""A subject with every vice, on NumPy. The tests copy it to a folder of its own as `fakeweir`."""

import os
import sys
import time
import types

import numpy as np

__version__ = "0.0-fake"
float32 = "fakeweir.float32"


class Tensor:
    def __init__(self, array, backward=None, source=None):
        self._array, self._backward, self._source = array, backward, source
        self.requires_grad = source is not None and source.requires_grad

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: f"fakeweir.{self._array.dtype}")

    def requires_grad_(self, on):
        self.requires_grad = on
        return self

    def detach(self):
        return Tensor(self._array)

    clone = contiguous = detach

    def to(self, dtype):
        return Tensor(self._array.astype(dtype.split(".")[1]))

    def numel(self):
        return self._array.size

    def numpy(self):
        return np.ascontiguousarray(self._array)


def from_numpy(array):
    return Tensor(array)


def as_strided(base, size, stride, offset):
    flat = base._array.reshape(-1)[offset:]
    return Tensor(np.lib.stride_tricks.as_strided(flat, size, [s * flat.itemsize for s in stride]))


def _grad(outputs, inputs, grads, allow_unused, create_graph):
    return [Tensor(outputs[0]._backward(grads[0]._array))]


autograd = types.SimpleNamespace(grad=_grad)


def neg(x):
    if x._array.dtype == bool:
        raise RuntimeError("neg: not defined for bool")
    return Tensor(-x._array, lambda g: -g, x)


def exp(x):  # wrong values
    return Tensor(np.exp(x._array) * np.float32(1.001), lambda g: g * np.exp(x._array), x)


def sin(x):  # crashes
    print("about to abort", file=sys.stderr, flush=True)
    os.abort()


def cos(x):  # hangs
    time.sleep(600)


def abs(x):  # crashes in backward
    return Tensor(np.abs(x._array), lambda g: os._exit(3), x)


def tanh(x):  # asks for more memory than it may have
    return Tensor(np.ones(1 << 40, np.uint8), None, x)


def log(x):  # leans on PyTorch
    import torch

    return torch.log(x)


def square(x):  # wrong dtype
    return Tensor((x._array**2).astype(np.float64), lambda g: g, x)


def t(x):  # accepts what PyTorch refuses
    return Tensor(x._array.T, lambda g: g.T, x)


def trace(x):
    raise NotImplementedError("trace: not yet")


def reciprocal(x):  # has a part of it
    if not x.shape:
        raise NotImplementedError("reciprocal: no scalars yet")
    return Tensor(1 / x._array, lambda g: -g / x._array**2, x)
