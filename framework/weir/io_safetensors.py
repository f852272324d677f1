"""Files of named tensors in the safetensors format, through the `safetensors` package's raw interface."""

import numpy as np
import weir
from _weir import _mark_truths, _numpy
from weir._atomic import replacing
from weir._pickle_reader import LoadError

_NAME_OF = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
            "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex64": "C64", "uint16": "U16", "uint32": "U32",
            "uint64": "U64", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0"}
_DTYPE_OF = {name: dtype for dtype, name in _NAME_OF.items()}


def _package():
    try:
        import safetensors
    except ImportError:
        raise ImportError("safetensors files need the `safetensors` package: pip install safetensors") from None
    return safetensors


def _bytes_of(t):
    t = t.detach().resolve_conj().resolve_neg().contiguous()
    return _numpy(t.reshape(-1).view(weir.uint8), True).tobytes() if t.numel() else b""


def save_file(tensors: dict, filename, metadata: dict | None = None) -> None:
    """Writes a mapping of names to tensors. Raises ValueError for other values. Views are written as they look."""
    for name, t in tensors.items():
        if not isinstance(t, weir.Tensor):
            raise ValueError(f"save_file: key {name!r} holds {type(t).__name__}, expected a Tensor")
    package = _package()
    memory = {name: np.frombuffer(_bytes_of(t), np.uint8) for name, t in tensors.items()}  # alive until written
    flat = {name: _describe(package, t, memory[name]) for name, t in tensors.items()}
    with replacing(filename) as file:
        file.write(package.serialize(flat, metadata=metadata))


def _describe(package, t, memory):
    if not hasattr(package, "TensorSpec"):  # before 0.8 the memory itself was handed over
        return {"dtype": t.dtype.name, "shape": list(t.shape), "data": memory.tobytes()}
    return package.TensorSpec(dtype=t.dtype.name, shape=list(t.shape), data_ptr=memory.ctypes.data, data_len=memory.nbytes)


def load_file(filename, device="cpu") -> dict:
    """The named tensors of a file. Raises LoadError for what is no such file."""
    package = _package()
    with open(filename, "rb") as file:
        data = file.read()
    try:
        return {name: _tensor(item).to(device) for name, item in package.deserialize(data)}
    except (package.SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise LoadError(f"load: {filename}: {error}") from None


def _tensor(item):
    dtype = getattr(weir, _DTYPE_OF[item["dtype"]])
    if 0 in item["shape"]:
        return weir.empty(item["shape"], dtype=dtype)
    memory = weir.from_numpy(np.frombuffer(bytearray(item["data"]), np.uint8))
    return _mark_truths(memory.view(dtype)).reshape(item["shape"])
