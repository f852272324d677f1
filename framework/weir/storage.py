"""Storages: the memory under tensors as an object of its own. Every access is a view of the tensor's memory.

Source: torch.storage. Sharing a storage between processes raises NotImplementedError. Tensors over memory that a program took away
(`resize_(0)`) read zeros there, until it is given back and filled.
"""
import warnings

import weir
from _weir import _numpy, _resizable, _resize_storage
from weir import Tensor, _C


class _Storage:
    """What both kinds of storages have: `_flat`, their numbers as a 1-d tensor over the memory."""

    is_sparse = is_sparse_csr = is_cuda = is_hpu = False

    def element_size(self):
        return self._flat.element_size()

    def size(self):
        return self._flat.numel()

    __len__ = size

    def nbytes(self):
        """Bytes of the whole memory."""
        return self.untyped()._flat.numel()

    def data_ptr(self):
        return self._flat.data_ptr()

    @property
    def device(self):
        return self._flat.device

    @property
    def _cdata(self):
        return self.data_ptr()

    def get_device(self):
        return self._flat.get_device()

    def tolist(self):
        return self._flat.tolist()

    def __iter__(self):
        return iter(self.tolist())

    def __setitem__(self, index, value):
        self._flat[index] = value

    def copy_(self, source, non_blocking=None):
        self._flat.copy_(source._flat)
        return self

    def fill_(self, value):
        self._flat.fill_(value)
        return self

    def cpu(self):
        return self

    def is_shared(self):
        return self._flat.is_shared()

    def is_pinned(self, device="cuda"):
        return False

    def resizable(self):
        """Is the memory weir's own? A file's keeps its size, and what an array shows."""
        return _resizable(self.untyped()._flat)

    def share_memory_(self):
        raise NotImplementedError(f"{type(self).__name__}.share_memory_: share the tensor itself")

    def __sizeof__(self):
        return super().__sizeof__() + self.nbytes()

    def __copy__(self):
        return self.clone()


class UntypedStorage(_Storage):
    """Bytes. `UntypedStorage(n)` makes n of them; `tensor.untyped_storage()` shows a tensor's."""

    filename = None

    def __init__(self, *args, device=None, wrap_tensor=None):
        if wrap_tensor is not None:
            flat = wrap_tensor
        elif args and isinstance(args[0], (list, tuple)):
            flat = weir.tensor(list(args[0]), dtype=weir.uint8)
        else:
            flat = weir.empty(args[0] if args else 0, dtype=weir.uint8, device=device)
        self._over = flat

    @property
    def _flat(self):
        return _C._storage_as_bytes(self._over)  # as many as there are now

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file: writes reach it when `shared`, which makes it `nbytes` long where it is shorter."""
        storage = cls(wrap_tensor=weir.from_file(filename, shared, nbytes, dtype=weir.uint8))
        storage.filename = filename if shared else None
        return storage

    def _numbers_as(self, dtype):
        """For `tensor(storage)`: the memory read as `dtype`; bytes of which nobody says what they are, as the integers PyTorch takes them for."""
        return numbers_in(self, dtype or (weir.int64 if self.nbytes() else weir.get_default_dtype()))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return UntypedStorage(wrap_tensor=weir.from_numpy(_numpy(self._flat[index], True)))
        return self._flat[index].item()

    def clone(self):
        return UntypedStorage(wrap_tensor=self._flat.clone())

    def untyped(self):
        return self

    def resize_(self, size):
        """Makes the memory `size` bytes long; tensors over it keep their sizes. RuntimeError where it is not `resizable`."""
        _resize_storage(self._over, size)
        return self

    def byteswap(self, dtype):
        """Turns the bytes of each element of `dtype` round, each part of a complex number for itself."""
        size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        self._flat.copy_(self._flat.view(-1, size).flip(1).reshape(-1))

    def __deepcopy__(self, memo):
        return copied_memory(self, memo)

    def __reduce__(self):
        return _of_bytes, (bytes(memoryview(_numpy(self._flat, True))),)

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr() and self.nbytes() == other.nbytes()

    def __hash__(self):
        return hash(self.data_ptr())

    def __repr__(self):
        return " " + "\n ".join(map(str, self)) + f"\n[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


def _of_bytes(data):
    return UntypedStorage(wrap_tensor=_C._from_buffer(bytearray(data), weir.uint8, len(data), 0) if data else None)


def _of_untyped(storage, dtype):
    return TypedStorage(wrap_storage=storage, dtype=dtype)


def numbers_in(storage, dtype):
    """The bytes of an UntypedStorage as a 1-d tensor of `dtype`, as many as fill whole elements."""
    whole = storage.nbytes() // dtype.itemsize * dtype.itemsize
    return storage._flat[:whole].view(dtype)


def copied_memory(storage, memo):
    """A copy of a storage's bytes, one for all that copy.deepcopy meets of the same memory."""
    key = "weir storage", storage.data_ptr()
    if not storage.nbytes() or key not in memo:
        memo[key] = storage, storage.clone()  # the first is kept: its address is the key
    return memo[key][1]


StorageBase = UntypedStorage


def _kind(dtype):
    return _NAMES.get(dtype, str(dtype)).removesuffix("Storage")


class TypedStorage(_Storage):
    """Numbers of one dtype: an UntypedStorage and how to read it."""

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        dtype = dtype or getattr(type(self), "dtype", None) or weir.get_default_dtype()
        if wrap_storage is None:
            data = args[0] if args else 0
            flat = weir.empty(data, dtype=dtype, device=device) if isinstance(data, int) else weir.tensor(list(data), dtype=dtype)
            wrap_storage = UntypedStorage(wrap_tensor=flat.view(weir.uint8) if flat.numel() else weir.empty(0, dtype=weir.uint8))
        self._untyped_storage, self.dtype = wrap_storage, dtype

    @classmethod
    def from_buffer(cls, buffer, byte_order="native", count=-1, offset=0, *, dtype=None, device=None):
        """The numbers of a copy of a buffer, whose bytes are in `byte_order`: native, little or big."""
        dtype = dtype or cls.dtype
        item = dtype.itemsize
        held = bytes(buffer)[offset:]
        count = len(held) // item if count < 0 else count
        storage = cls(wrap_storage=UntypedStorage(list(held[:count * item])), dtype=dtype)
        if byte_order == "big":
            storage._untyped_storage.byteswap(dtype)
        if dtype is weir.bool:
            storage._untyped_storage._flat.ne_(0)
        return storage

    @classmethod
    def from_file(cls, filename, shared=False, size=0):
        """`size` numbers of a file: writes reach it when `shared`."""
        return cls(wrap_storage=UntypedStorage.from_file(filename, shared, size * cls.dtype.itemsize), dtype=cls.dtype)

    @property
    def _flat(self):
        return numbers_in(self._untyped_storage, self.dtype)

    @property
    def filename(self):
        return self._untyped_storage.filename

    def untyped(self):
        return self._untyped_storage

    def _numbers_as(self, dtype):
        """For `tensor(storage)`. RuntimeError where the storage is of another dtype."""
        dtype = dtype or weir.get_default_dtype()
        if self.dtype is not dtype:
            raise RuntimeError(f"Expected a Storage of type {_kind(dtype)} or an UntypedStorage, but got {_kind(self.dtype)}")
        return self._flat

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._flat[index].item()

    def clone(self):
        return type(self)(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def __deepcopy__(self, memo):
        return type(self)(wrap_storage=copied_memory(self._untyped_storage, memo), dtype=self.dtype)

    def __reduce__(self):
        return _of_untyped, (self._untyped_storage, self.dtype)

    def resize_(self, size):
        """Makes the memory `size` numbers long."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def type(self, dtype=None, non_blocking=False):
        """The type's name, or the numbers in the storage type of another one's name."""
        if dtype is None:
            return f"torch.{self.pickle_storage_type()}"
        kind = globals()[dtype.rsplit(".", 1)[-1]] if isinstance(dtype, str) else dtype
        return self._in(kind.dtype)

    def _in(self, dtype):
        kind = globals()[_NAMES[dtype]]
        return kind(wrap_storage=untyped_storage(self._flat.to(dtype, copy=True)), dtype=dtype)

    def _size(self):
        return self.size()

    def _data_ptr(self):
        return self.data_ptr()

    def pickle_storage_type(self):
        """The name of the storage type of this dtype."""
        return _NAMES[self.dtype]

    def __repr__(self):
        return " " + "\n ".join(map(str, self)) + (f"\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) "
                                                  f"of size {len(self)}]")


def _typed(name, dtype):
    return type(name, (TypedStorage,), {"dtype": dtype, "__module__": "torch",
                                        "__doc__": f"TypedStorage of {dtype}."})


_NAMES = {}
for _name, _dtype in (("Float", weir.float32), ("Double", weir.float64), ("Half", weir.float16), ("BFloat16", weir.bfloat16),
                      ("Long", weir.int64), ("Int", weir.int32), ("Short", weir.int16), ("Char", weir.int8),
                      ("Byte", weir.uint8), ("Bool", weir.bool), ("ComplexFloat", weir.complex64),
                      ("ComplexDouble", weir.complex128)):
    globals()[_name + "Storage"] = _typed(_name + "Storage", _dtype)
    _NAMES[_dtype] = _name + "Storage"
for _name, _dtype in (("float", weir.float32), ("double", weir.float64), ("half", weir.float16), ("bfloat16", weir.bfloat16), ("long", weir.int64),
                      ("int", weir.int32), ("short", weir.int16), ("char", weir.int8), ("byte", weir.uint8), ("bool", weir.bool),
                      ("complex_float", weir.complex64), ("complex_double", weir.complex128)):
    setattr(TypedStorage, _name, lambda self, _dtype=_dtype: self._in(_dtype))
Storage = globals()["FloatStorage"]  # of the dtype that a program starts with


def is_storage(obj, /):
    """Is obj a storage?"""
    return isinstance(obj, (UntypedStorage, TypedStorage))


def untyped_storage(self):
    """The bytes of self's memory, all of them, whatever part of it self shows."""
    return UntypedStorage(wrap_tensor=_C._storage_as_bytes(self))


def storage(self):
    """The numbers of self's memory, all of them, whatever part of it self shows."""
    warnings.warn("TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This should only matter "
                  "to you if you are using storages directly.  To access UntypedStorage directly, use tensor.untyped_storage() instead of "
                  "tensor.storage()", stacklevel=3)
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype)


def _load_from_bytes(data):
    """The storage in a pickle that PyTorch wrote without `save`: for `_utils._rebuild_tensor_v2`. Raises LoadError."""
    import io

    from ._legacy_format import read_legacy
    from ._rebuilt import _Storages
    from .serialization import _find
    return read_legacy(io.BytesIO(data), _find, None, _Storages)
