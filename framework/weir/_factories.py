"""Functions that make tensors of ranges, sequences, arrays and other memory; factories by size are ops."""
import builtins
import warnings

from _weir import (Tensor, _argument, _from_buffer, _from_capsule, _from_exporter, _is_numpy, _write_out, from_numpy, get_default_dtype,
                   ops, tensor)

from . import _types as T
from ._lazy import np

_hidden = ops["hidden"]
_PYTHON_TYPES = {builtins.float: T.float64, builtins.int: T.int64, builtins.bool: T.bool, builtins.complex: T.complex128}


def _into(name, out, r, requires_grad=False):
    """`out` with the size and numbers of r, in its own dtype, as one write."""
    if out.requires_grad:
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                           "the arguments requires grad.")
    _write_out(name, out, r.detach().to(out.dtype), [], 0, False)
    return out.requires_grad_() if requires_grad else out


def check_options(layout, pin_memory, requires_grad=False):
    """Raises for what a new tensor cannot have here: another layout, and pinned memory, which needs an accelerator."""
    if layout is None and pin_memory is False and (requires_grad is False or requires_grad is True):  # most calls
        return
    if layout not in (None, "strided") and str(layout) != "torch.strided":
        raise NotImplementedError(f"layout {layout} is not supported: weir tensors are strided")
    for name, flag in (("pin_memory", pin_memory), ("requires_grad", requires_grad)):
        if not isinstance(flag, builtins.bool) and flag is not None:
            raise TypeError(f"argument '{name}' must be bool, not {type(flag).__name__}")
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator "
                           "is available on this system.")


def arange(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """start, start + step, ... below end. int64 unless a bound is a float. ValueError-free; RuntimeError for a bad step."""
    check_options(layout, pin_memory, requires_grad)
    if end is None:
        start, end = 0, start
    dtype = as_dtype(dtype)
    if dtype is not None and dtype.is_complex:
        raise NotImplementedError(f"arange: not implemented for {dtype}")
    if out is not None:
        if dtype not in (None, out.dtype):
            raise RuntimeError(f"arange: dtype {dtype} does not match dtype of out parameter ({out.dtype})")
        if not out.is_floating_point() and builtins.int(step) == 0:
            raise ValueError("arange: step must be nonzero")  # out's dtype rounds it
        dtype = out.dtype
    if dtype is None:
        whole = all(not x.is_floating_point() if isinstance(x, Tensor) else hasattr(x, "__index__") for x in (start, end, step))
        dtype = T.int64 if whole else get_default_dtype()
    r = _hidden["arange"](start, end, step, dtype)
    if device is not None:
        r = r.to(device)
    if out is not None:
        return _into("arange", out, r.view(out.shape) if out.numel() == r.numel() else r, requires_grad)
    return r.requires_grad_() if requires_grad else r


def as_dtype(dtype):
    """A dtype, or a Python type as the dtype that it stands for."""
    return _PYTHON_TYPES.get(dtype, dtype)


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor: a tensor itself and an array's own memory where dtype and device allow, else a copy."""
    if isinstance(data, Tensor):
        t = data
    elif _is_array(data):
        t = from_numpy(data)
    elif hasattr(data, "__dlpack__"):
        t = _from_exporter(data)
    else:
        t = tensor(data, dtype=dtype)
    return t.to(device=device, dtype=dtype) if dtype or device else t


def _is_array(data):
    return _is_numpy(data) and isinstance(data, np.ndarray)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """`obj` as a tensor: tensors, arrays, DLPack exporters and buffers share their memory unless `copy` or dtype asks for
    another; with copy=False a copy is a ValueError. Unless told, it requires grad, and has a history, as obj does. Source: https://pytorch.org/docs/stable/generated/torch.asarray.html"""
    requires_grad = _argument("asarray", "requires_grad", 5, "bool | None", requires_grad)
    if isinstance(obj, Tensor):
        t = obj
    elif _is_numpy(obj):
        t = from_numpy(np.asarray(obj))
    elif hasattr(obj, "__dlpack__"):
        t = _from_exporter(obj)
    elif type(obj).__name__ == "PyCapsule":
        t = _from_capsule(obj)
    elif type(obj).__name__ == "UntypedStorage":
        t = obj._flat
    elif _is_buffer(obj):
        t, dtype = frombuffer(obj, dtype=dtype or get_default_dtype()), None
    elif copy is False:
        raise ValueError(f"can't alias arbitrary sequence into a tensor: {type(obj).__name__}")
    else:
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    r = t.to(dtype=dtype, device=device) if dtype or device else t
    if copy is False and r is not t:
        raise ValueError("can't alias tensor: another dtype or device needs a copy")
    if copy and r is t:
        r = t.clone()
    if requires_grad is None and r.requires_grad:
        warnings.warn("asarray: requires_grad was not given, and so is that of the given tensor.", UserWarning, stacklevel=2)
    if requires_grad is None or r.requires_grad == requires_grad:
        return r
    return r.requires_grad_(requires_grad) if requires_grad or r.is_leaf else r.detach()  # a leaf itself, as in PyTorch


def _is_buffer(obj):
    try:
        memoryview(obj)
    except TypeError:
        return False
    return True


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A 1-d tensor over the memory of an object with the buffer protocol. `offset` in bytes, `count` in elements (-1: all).
    ValueError where they do not fit it. Source: https://pytorch.org/docs/stable/generated/torch.frombuffer.html"""
    if not _is_buffer(buffer):
        raise ValueError(f"frombuffer: object of type {type(buffer).__name__} does not implement the Python buffer protocol.")
    if memoryview(buffer).readonly:
        warnings.warn("The given buffer is not writable, and PyTorch does not support non-writable tensors: writing to it "
                      "through the tensor is undefined. Copy the buffer first.", UserWarning, stacklevel=2)
    return _from_buffer(buffer, dtype, count, offset).requires_grad_(requires_grad)
