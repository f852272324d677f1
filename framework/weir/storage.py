"""Storages: the memory under tensors as an object of its own. Every access is a view of the tensor's memory.

Source: torch.storage. `resize_` of a storage and sharing between processes raise NotImplementedError.
"""
import weir
from weir import Tensor, _C


class UntypedStorage:
    """Bytes. `UntypedStorage(n)` makes n of them; `tensor.untyped_storage()` shows a tensor's."""

    def __init__(self, *args, device=None, wrap_tensor=None):
        if wrap_tensor is not None:
            flat = wrap_tensor
        elif args and isinstance(args[0], (list, tuple)):
            flat = weir.tensor(list(args[0]), dtype=weir.uint8)
        else:
            flat = weir.empty(args[0] if args else 0, dtype=weir.uint8)
        self._flat = flat

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file: writes reach it when `shared`, which makes it `nbytes` long where it is shorter."""
        import weir
        return cls(wrap_tensor=weir.from_file(filename, shared, nbytes, dtype=weir.uint8))

    def nbytes(self):
        return self._flat.numel()

    size = __len__ = nbytes

    def element_size(self):
        return 1

    def data_ptr(self):
        return self._flat.data_ptr()

    def tolist(self):
        return self._flat.tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return UntypedStorage(wrap_tensor=self._flat[index])
        return self._flat[index].item()

    def __setitem__(self, index, value):
        self._flat[index] = value

    def copy_(self, source, non_blocking=None):
        self._flat.copy_(source._flat)
        return self

    def fill_(self, value):
        self._flat.fill_(value)
        return self

    def clone(self):
        return UntypedStorage(wrap_tensor=self._flat.clone())

    def cpu(self):
        return self

    def untyped(self):
        return self

    @property
    def device(self):
        return self._flat.device

    @property
    def is_cuda(self):
        return False

    def is_shared(self):
        return self._flat.is_shared()

    def is_pinned(self, device="cuda"):
        return False

    def share_memory_(self):
        raise NotImplementedError("UntypedStorage.share_memory_: share the tensor itself")

    def resize_(self, size):
        """NotImplementedError unless the size stays."""
        if size != self.nbytes():
            raise NotImplementedError("UntypedStorage.resize_: weir cannot resize memory under living tensors")
        return self

    def _weak_ref(self):
        raise NotImplementedError("UntypedStorage._weak_ref: weir has no weak storages")

    @property
    def _cdata(self):
        return self.data_ptr()

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self):
        return hash(self.data_ptr())

    def __repr__(self):
        return " " + "\n ".join(map(str, self)) + f"\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage:
    """Numbers of one dtype: an UntypedStorage and how to read it."""

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        dtype = dtype or getattr(type(self), "dtype", None) or weir.get_default_dtype()
        if wrap_storage is None:
            data = args[0] if args else 0
            flat = weir.empty(data, dtype=dtype) if isinstance(data, int) else weir.tensor(list(data), dtype=dtype)
            wrap_storage = UntypedStorage(wrap_tensor=flat.view(weir.uint8) if flat.numel() else weir.empty(0, dtype=weir.uint8))
        self._untyped_storage, self.dtype = wrap_storage, dtype

    @property
    def _flat(self):
        bytes_ = self._untyped_storage._flat
        return bytes_[:bytes_.numel() // self.dtype.itemsize * self.dtype.itemsize].view(self.dtype)

    def untyped(self):
        return self._untyped_storage

    def size(self):
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    __len__ = size

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    def tolist(self):
        return self._flat.tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._flat[index].item()

    def __setitem__(self, index, value):
        self._flat[index] = value

    def copy_(self, source, non_blocking=None):
        self._flat.copy_(source._flat)
        return self

    def fill_(self, value):
        self._flat.fill_(value)
        return self

    def clone(self):
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def cpu(self):
        return self

    @property
    def device(self):
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        return False

    def is_shared(self):
        return self._untyped_storage.is_shared()

    def _size(self):
        return self.size()

    def _data_ptr(self):
        return self.data_ptr()

    def pickle_storage_type(self):
        return weir.empty(0, dtype=self.dtype).type().removeprefix("torch.").replace("Tensor", "Storage")

    def __repr__(self):
        return " " + "\n ".join(map(str, self)) + (f"\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) "
                                                  f"of size {len(self)}]")


def _typed(name, dtype):
    return type(name, (TypedStorage,), {"dtype": dtype, "__module__": "torch",
                                        "__doc__": f"TypedStorage of {dtype}."})


for _name, _dtype in (("Float", weir.float32), ("Double", weir.float64), ("Half", weir.float16), ("BFloat16", weir.bfloat16),
                      ("Long", weir.int64), ("Int", weir.int32), ("Short", weir.int16), ("Char", weir.int8),
                      ("Byte", weir.uint8), ("Bool", weir.bool)):
    globals()[_name + "Storage"] = _typed(_name + "Storage", _dtype)


def is_storage(obj, /):
    """Is obj a storage?"""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def untyped_storage(self):
    """The bytes of self's memory, all of them, whatever part of it self shows."""
    return UntypedStorage(wrap_tensor=_C._storage_as_bytes(self))


def storage(self):
    """The numbers of self's memory, all of them, whatever part of it self shows."""
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype)
