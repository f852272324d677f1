"""dtypes under PyTorch's names, Size, finfo and iinfo."""
import builtins

import _weir
from _weir import (bfloat16, bool, channels_last, channels_last_3d, complex32, complex64, complex128, contiguous_format, device, dtype,
                   float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, float16, float32, float64, int8, int16,
                   int32, int64, memory_format, preserve_format, uint8, uint16, uint32, uint64)

from ._lazy import np

half, float, double, short, int, long = float16, float32, float64, int16, int32, int64
chalf, cfloat, cdouble = complex32, complex64, complex128
legacy_contiguous_format = contiguous_format


Size = _weir.Size


def __getattr__(name):
    """`numpy_of` and `of_numpy`: NumPy's type for each dtype and back, made when first asked for.

    bfloat16, float8 and complex32 have no NumPy type and travel as the bits of `bits_of`.
    """
    if name not in ("numpy_of", "of_numpy"):
        raise AttributeError(f"module 'weir._types' has no attribute '{name}'")
    numpy_of = {bool: np.bool_, uint8: np.uint8, int8: np.int8, int16: np.int16, int32: np.int32, int64: np.int64,
                uint16: np.uint16, uint32: np.uint32, uint64: np.uint64, float16: np.float16, float32: np.float32, float64: np.float64, complex64: np.complex64,
                complex128: np.complex128}
    globals().update(numpy_of=numpy_of, of_numpy={np.dtype(v): k for k, v in numpy_of.items()})
    return globals()[name]


def _numpy_type(of):
    return __getattr__("numpy_of")[of]


#: The integers whose bits stand for dtypes that NumPy lacks.
bits_of = {bfloat16: int16, complex32: int32, float8_e5m2: uint8, float8_e4m3fn: uint8, float8_e5m2fnuz: uint8, float8_e4m3fnuz: uint8,
           float8_e8m0fnu: uint8}

#: (eps, largest, smallest normal number, smallest number) of the floating dtypes of eight bits.
_SMALL_FLOATS = {"float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6, -448.0), "float8_e4m3fnuz": (2.0**-3, 240.0, 2.0**-7, -240.0),
                  "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14, -57344.0), "float8_e5m2fnuz": (2.0**-3, 57344.0, 2.0**-15, -57344.0),
                  "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 2.0**-127)}


_DEFAULT = object()  # of an argument for which None does not stand


def _checked(function, type):
    type = {builtins.float: float64, builtins.int: int64, builtins.bool: bool, builtins.complex: complex128}.get(type, type) if isinstance(type, builtins.type) else type
    if not isinstance(type, dtype):
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {builtins.type(type).__name__}")
    return type


class finfo:
    """Machine limits of a floating-point dtype, or of a complex one's parts (default: the default dtype)."""

    def __init__(self, type=_DEFAULT):
        type = _checked("finfo", _weir.get_default_dtype() if type is _DEFAULT else type).to_real()
        if not type.is_floating_point:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{type}'")
        self.dtype = type.name
        if type.name in _SMALL_FLOATS:
            self.bits, self.resolution, (self.eps, self.max, self.tiny, self.min) = 8, 1.0, _SMALL_FLOATS[type.name]
        elif type not in (bfloat16, float16, float32, float64):
            raise NotImplementedError(f"finfo: no limits of {type}")
        elif type is bfloat16:
            self.bits, self.eps, self.max, self.tiny, self.resolution = 16, 2.0**-7, 3.3895313892515355e38, 2.0**-126, 0.01
        else:
            f = np.finfo(_numpy_type(type))
            self.bits, self.eps, self.max = f.bits, f.eps.item(), f.max.item()
            self.tiny, self.resolution = f.tiny.item(), 10.0**-f.precision
        self.min, self.smallest_normal = getattr(self, "min", -self.max), self.tiny

    def __repr__(self):
        return _limits(self, "resolution min max eps smallest_normal tiny dtype")

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype


_INTEGERS = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


class iinfo:
    """Machine limits of an integer dtype."""

    def __init__(self, type):
        type = _checked("iinfo", type)
        if type.is_floating_point or type.is_complex or type is bool:
            raise TypeError(f"torch.iinfo() requires an integer input type, got '{type}'")
        if type.name not in _INTEGERS:
            raise TypeError(f"torch.iinfo: no limits of {type}")
        i = np.iinfo(type.name)
        self.dtype, self.bits, self.min, self.max = type.name, i.bits, i.min, i.max

    def __repr__(self):
        return _limits(self, "min max dtype")

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype


def _limits(of, names):
    values = ((name, getattr(of, name)) for name in names.split())
    return f"{type(of).__name__}({', '.join(f'{n}={v}' if isinstance(v, str) else f'{n}={v:g}' for n, v in values)})"
