"""JAX under PyTorch's names: `weir-autotest run --subject weir_autotest.subjects.jax_arrays` (pip install "jax[cpu]").

An array of JAX has no strides and cannot be written to: those properties are UNSUPPORTED. Gradients are JAX's own (`jax.vjp`),
kept by each tensor for the calls that made it.
"""

import contextlib
import os
import sys
import types

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
from .array_api import NAMES, in_their_words  # noqa: E402

__version__ = jax.__version__
globals().update({name: jnp.dtype(name) for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64".split()})
bfloat16 = jnp.dtype(jnp.bfloat16)
no_grad = contextlib.nullcontext


class Tensor:
    """An array, and the function that sends a gradient of it back to `sources`, the tensors it was made of."""

    def __init__(self, array, back=None, sources=()):
        self.array, self.back, self.sources = jnp.asarray(array), back, sources
        self.requires_grad = len(sources) > 0  # `bool` is a dtype here

    shape = property(lambda self: self.array.shape)
    dtype = property(lambda self: self.array.dtype)
    dim = ndim = property(lambda self: self.array.ndim)
    numel = lambda self: self.array.size
    detach = clone = contiguous = lambda self: Tensor(self.array)
    numpy = lambda self: np.array(self.array)
    view = lambda self, dtype: Tensor(self.array.view(dtype))
    to = lambda self, dtype: Tensor(self.array.astype(dtype))

    def requires_grad_(self, on=True):
        self.requires_grad = on
        return self


def from_numpy(array):
    return Tensor(array)


def as_strided(base, size, stride, offset):
    # JAX has no such view: a copy of what it would show.
    flat = np.array(base.array)[offset:]
    return Tensor(np.lib.stride_tricks.as_strided(flat, size, [step * flat.itemsize for step in stride]).copy())


class autograd:
    @staticmethod
    def grad(outputs, inputs, cotangents, allow_unused=False, create_graph=False):
        if create_graph:
            raise NotImplementedError("second derivatives of a recorded call")
        found = {}
        waiting = [(output, cotangent.array) for output, cotangent in zip(outputs, cotangents)]
        for tensor, cotangent in waiting:  # grows while it is read
            found[id(tensor)] = found.get(id(tensor), 0) + cotangent
            if tensor.back:
                waiting += [(s, g) for s, g in zip(tensor.sources, tensor.back(cotangent)) if s.requires_grad]
        return [Tensor(found[id(x)]) if id(x) in found else None for x in inputs]


def _adapted(name, function):
    def call(*args, **keywords):
        if keywords.get("out") is not None:
            raise NotImplementedError("arrays of JAX cannot be written to")
        args, keywords = in_their_words(name, args, keywords)
        leaves, tree = jax.tree_util.tree_flatten((args, keywords), is_leaf=lambda x: isinstance(x, Tensor))
        traced = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]

        def run(*values):
            given = dict(zip(map(id, traced), values))
            filled = [given.get(id(x), x.array) if isinstance(x, Tensor) else x for x in leaves]
            args, keywords = jax.tree_util.tree_unflatten(tree, filled)
            return function(*args, **keywords)

        try:
            if not traced:
                return jax.tree_util.tree_map(Tensor, run())
            result, back = jax.vjp(run, *(x.array for x in traced))
            many = isinstance(result, (tuple, list))
            return Tensor(result, back, tuple(traced)) if not many else type(result)(map(Tensor, result))
        except TypeError as error:
            raise NotImplementedError(f"{name}: {error}") if "argument" in str(error) else error from None

    return call


class _Functions(types.ModuleType):
    def __getattr__(self, name):
        function = getattr(jnp, NAMES.get(name, name), None) or getattr(jax.nn, name, None)
        if not callable(function) or isinstance(function, type):
            raise AttributeError(f"jax.numpy has no {name}")
        return _adapted(name, function)


sys.modules[__name__].__class__ = _Functions
