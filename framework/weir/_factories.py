"""Functions that make tensors of sequences, arrays and other memory; what makes them by size or range are ops."""
import warnings

from _weir import Tensor, _argument, _from_buffer, _from_capsule, _from_exporter, _is_numpy, from_numpy, get_default_dtype, tensor

from ._lazy import np


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
        if copy is False and not isinstance(obj, np.ndarray):
            raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
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
    if requires_grad is None and t.requires_grad and not (r.is_floating_point() or r.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
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
