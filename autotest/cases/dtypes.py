"""Facts about dtypes, by name, so that code without a framework can handle them."""

from functools import lru_cache

import numpy as np

#: dtypes NumPy knows under the same name.
NATIVE = {
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
}

#: dtypes NumPy lacks, and the integer dtype of the same width that carries their bits.
CARRIER = {
    "bfloat16": "int16", "complex32": "int32",
    "float8_e4m3fn": "uint8", "float8_e5m2": "uint8",
    "float8_e4m3fnuz": "uint8", "float8_e5m2fnuz": "uint8", "float8_e8m0fnu": "uint8",
}

#: Distance from 1 to the next larger number, per floating or complex dtype.
EPSILON = {
    "bfloat16": 2.0**-7, "float16": 2.0**-10, "complex32": 2.0**-10,
    "float32": 2.0**-23, "complex64": 2.0**-23, "float64": 2.0**-52, "complex128": 2.0**-52,
}

#: The dtype in which the reference of a floating or complex dtype is computed.
REFERENCE = {
    "bfloat16": "float64", "float16": "float64", "float32": "float64", "float64": "float64",
    "complex32": "complex128", "complex64": "complex128", "complex128": "complex128",
}


@lru_cache(maxsize=None)
def name_of(dtype) -> str:
    """The bare name of a framework's dtype object: `torch.float32` gives `float32`."""
    return str(dtype).rsplit(".", 1)[-1]


@lru_cache(maxsize=None)
def numpy_dtype(dtype: str) -> np.dtype:
    """The NumPy dtype in which values of `dtype` travel. Raises KeyError if there is none."""
    return np.dtype(dtype if dtype in NATIVE else CARRIER[dtype])


def is_known(dtype: str) -> bool:
    """Whether tensors of `dtype` can travel between the processes."""
    return dtype in NATIVE or dtype in CARRIER


def is_whole(dtype: str) -> bool:
    """Whether these are whole numbers or truths."""
    return dtype in NATIVE and np.dtype(dtype).kind in "biu"


def shows_bytes(data, dtype: str) -> bool:
    """Whether these truths are bytes of another dtype, seen as truths."""
    return dtype == "bool" and np.frombuffer(data, np.uint8).max(initial=0) > 1


def to_array(data: bytes, dtype: str) -> np.ndarray:
    """A 1-d array of comparable numbers from raw bytes.

    bfloat16 widens to float32 and complex32 to complex64, both exactly; float8 stays as bits. A truth may be any byte but 0.
    """
    raw = np.frombuffer(data, dtype=numpy_dtype(dtype))
    if dtype == "bool":
        return raw.view(np.uint8) != 0
    if dtype == "bfloat16":
        return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if dtype == "complex32":
        return raw.view(np.float16).astype(np.float32).view(np.complex64)
    return raw
