"""JAX under PyTorch's names: `weir-autotest run --subject weir_autotest.subjects.jax_arrays` (pip install "jax[cpu]").

An array of JAX has no strides and cannot be written to: those properties are UNSUPPORTED. Gradients are JAX's own (`jax.vjp`).
"""

import contextlib
import os
import sys
import types

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax

jax.config.update("jax_enable_x64", True)
jnp = jax.numpy
from .array_api import NAMES  # noqa: E402
from .differentiated import Tensor, adapted, autograd, strided  # noqa: E402, F401

__version__ = jax.__version__
globals().update({name: jnp.dtype(name) for name in "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64".split()})
bfloat16 = jnp.dtype(jnp.bfloat16)
no_grad = contextlib.nullcontext


def from_numpy(array):
    return Tensor(jnp.asarray(array))


def as_strided(base, size, stride, offset):
    return from_numpy(strided(base, size, stride, offset))


class _Functions(types.ModuleType):
    def __getattr__(self, name):
        function = getattr(jnp, NAMES.get(name, name), None) or getattr(jax.nn, name, None)
        if not callable(function) or isinstance(function, type):
            raise AttributeError(f"jax.numpy has no {name}")
        return adapted(name, function, jax.vjp, jax.Array)


sys.modules[__name__].__class__ = _Functions
