"""MLX under PyTorch's names: `weir-autotest run --subject weir_autotest.subjects.mlx_arrays` (pip install "mlx[cpu]").

An array of MLX has no strides, and its numbers are computed when they are read: an error of a kernel shows there. Gradients are MLX's own (`mx.vjp`).
"""

import contextlib
import sys
import types

import mlx.core as mx
import mlx.nn

from .array_api import NAMES
from .differentiated import Tensor, adapted, autograd, strided  # noqa: F401

__version__ = mx.__version__
_DTYPES = {name: getattr(mx, name) for name in "uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64".split()} | {"bool": mx.bool_}
#: MLX's own names, where it has neither PyTorch's nor the standard's.
_OWN = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh", "atan2": "arctan2",
        "concat": "concatenate", "permute_dims": "transpose", "cumulative_sum": "cumsum", "pow": "power", "bitwise_not": "bitwise_invert"}
globals().update(_DTYPES)
no_grad = contextlib.nullcontext
mx.set_default_device(mx.cpu)


def from_numpy(array):
    return Tensor(mx.array(array, dtype=_DTYPES.get(array.dtype.name)))


def as_strided(base, size, stride, offset):
    if base.dtype == mx.bfloat16:  # which NumPy does not know
        return as_strided(base.view(mx.int16), size, stride, offset).view(mx.bfloat16)
    return from_numpy(strided(base, size, stride, offset))


def _vjp(function, *arrays):
    return function(*arrays), lambda cotangent: mx.vjp(function, list(arrays), [cotangent])[1]


class _Functions(types.ModuleType):
    def __getattr__(self, name):
        theirs = NAMES.get(name, name)
        function = next((f for f in (getattr(mx, _OWN.get(theirs, theirs), None), getattr(mx, name, None), getattr(mlx.nn, name, None)) if callable(f)), None)
        if function is None or isinstance(function, type):
            raise AttributeError(f"mlx.core has no {name}")
        return adapted(name, function, _vjp, mx.array)


sys.modules[__name__].__class__ = _Functions
