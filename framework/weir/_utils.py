"""Helpers that libraries import from `torch._utils`."""
import weir

_IN_PICKLES = {"_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_sparse_tensor"}


def __getattr__(name):
    """What tensors are made by that PyTorch pickled without `save`; their storages are `storage._load_from_bytes`."""
    if name not in _IN_PICKLES:
        raise AttributeError(f"module 'weir._utils' has no attribute '{name}'")
    from . import _rebuilt
    return getattr(_rebuilt, name)


def _accumulate(iterable, fn=lambda x, y: x + y):
    """Running totals."""
    total = None
    for i, x in enumerate(iterable):
        total = x if i == 0 else fn(total, x)
        yield total


def _flatten_dense_tensors(tensors):
    """All elements in one vector."""
    return weir.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """The vector's elements in the tensors' shapes."""
    return tuple(part.view_as(t) for part, t in zip(flat.split([t.numel() for t in tensors]), tensors))


def _take_tensors(tensors, size_limit):
    """Yields lists of tensors of one type, in their order, of `size_limit` bytes at most where more than one is in a list."""
    waiting = {}
    for tensor in tensors:
        parts = (tensor._indices(), tensor._values()) if tensor.is_sparse else (tensor,)
        size = sum(part.numel() * part.element_size() for part in parts)
        kind = tensor.type()
        taken, bytes_ = waiting.get(kind, ([], 0))
        if bytes_ and bytes_ + size > size_limit:
            yield taken
            taken, bytes_ = [], 0
        waiting[kind] = [*taken, tensor], bytes_ + size
    yield from (taken for taken, _ in waiting.values() if taken)


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over a storage."""
    return storage._flat.view(getattr(storage, "dtype", weir.uint8)).as_strided(size, stride, storage_offset)


def _element_size(dtype):
    """Bytes of an element of `dtype`."""
    return dtype.itemsize


def _set_obj_state(obj, state):
    """obj with the attributes of a pickle: a dict, or a pair of it and of what lies in slots. RuntimeError for other tuples."""
    if isinstance(state, tuple) and len(state) != 2:
        raise RuntimeError(f"Invalid serialized state: {state}")
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            setattr(obj, name, value)
    return obj


def _get_device_index(device, optional=False, allow_cpu=False):
    device = weir.device(device) if isinstance(device, str) else device
    if isinstance(device, int):
        return device
    return -1 if device is None or device.type == "cpu" else device.index


class ExceptionWrapper:
    """An exception of another thread or process on its way."""

    def __init__(self, exc_info=None, where="in background"):
        import sys
        import traceback
        kind, value, trace = exc_info or sys.exc_info()
        self.exc_type, self.where, self.exc_msg = kind, where, "".join(traceback.format_exception(kind, value, trace))

    def reraise(self):
        raise self.exc_type(f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}")


class _ClassPropertyDescriptor:
    def __init__(self, fget, fset=None):
        self.fget = fget

    def __get__(self, instance, owner=None):
        return self.fget.__get__(instance, owner or type(instance))()


def classproperty(func):
    """A property of a class."""
    return _ClassPropertyDescriptor(func if isinstance(func, (classmethod, staticmethod)) else classmethod(func))


def is_compiling():
    return False


def _get_available_device_type():
    """The kind of accelerator there is: none in this build."""
    return None


def _get_device_module(device_type):
    """`torch.cuda` and its kin by their device type. RuntimeError for one that has no such module."""
    import weir
    module = getattr(weir, device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.")
    return module
