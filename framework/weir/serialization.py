"""save and load in PyTorch's zip format.

A file is a zip archive: `<root>/data.pkl` is a pickle whose tensors name their storages, `<root>/data/<key>` is the
raw memory of one storage. Reading never runs code from the file: the unpickler knows a short list of names and
nothing else. Source: the layout of files written by torch.save.
"""

import io
import os
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import weir
from weir._C import Tensor

_STORAGE_OF = {"float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage",
               "bfloat16": "BFloat16Storage", "int64": "LongStorage", "int32": "IntStorage", "int16": "ShortStorage",
               "int8": "CharStorage", "uint8": "ByteStorage", "bool": "BoolStorage",
               "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage"}
_DTYPE_OF = {storage: dtype for dtype, storage in _STORAGE_OF.items()}
_PROTOCOL = 2  # what torch.load(weights_only=True) reads


class _Named:
    """Stands for a class or function of PyTorch that the pickle names but that need not exist here."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class _Pickler(pickle._Pickler):
    """Writes tensors as PyTorch's rebuild calls and gathers their storages.

    The Python pickler, because names such as `torch FloatStorage` must be written without importing them.
    """

    def __init__(self, file, reaches=None):
        super().__init__(file, _PROTOCOL)
        self.storages = {}  # key -> all of its elements that a tensor shows, as a 1-d tensor
        self.reaches = {}   # storage -> how many of its elements some tensor shows
        self._known = reaches
        self._keys = {}
        self._alive = []    # addresses tell storages apart only while they live

    def _named(self, module, name):
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, _Named):
            return self._named(obj.module, obj.name)
        if isinstance(obj, weir.dtype):
            return self._named("torch", str(obj).rpartition(".")[2])
        if isinstance(obj, Tensor):
            return self._save_tensor(obj)
        if type(obj) is weir.Size:
            return self.save_reduce(_Named("torch", "Size"), (tuple(obj),), obj=obj)
        return super().save(obj, save_persistent_id)

    def save_reduce(self, func, args, state=None, *rest, obj=None, **kwargs):
        if not isinstance(func, _Named):
            return super().save_reduce(func, args, state, *rest, obj=obj, **kwargs)
        self.save(func)
        self.save(args)
        self.write(pickle.REDUCE)
        if obj is not None and id(obj) not in self.memo:
            self.memoize(obj)

    def _save_tensor(self, t):
        if id(t) in self.memo:
            return self.write(self.get(self.memo[id(t)][0]))
        if isinstance(t, weir.nn.Parameter):
            args = (t.detach(), t.requires_grad, OrderedDict())
            return self.save_reduce(_Named("torch._utils", "_rebuild_parameter"), args, obj=t)
        args = (_StorageRef(self._storage(t)), t.storage_offset(), tuple(t.shape), tuple(t.stride()),
                bool(t.requires_grad), OrderedDict())
        marks = {name: True for name, marked in (("conj", t.is_conj()), ("neg", t.is_neg())) if marked}
        args += (marks,) if marks else ()
        self._alive.append(t)
        self.save_reduce(_Named("torch._utils", "_rebuild_tensor_v2"), args, obj=t)

    def persistent_id(self, obj):
        return obj.description if isinstance(obj, _StorageRef) else None

    def _storage(self, t):
        if t.device.type != "cpu":
            t = t.detach().cpu()
        reach = _reach(t)
        storage = (t._storage_ptr(), t.dtype.name) if reach else ("empty", id(t))
        self.reaches[storage] = max(reach, self.reaches.get(storage, 0))
        count = self._known[storage] if self._known else self.reaches[storage]
        if storage not in self._keys:
            self._keys[storage] = str(len(self._keys))
            self._alive.append(t)
        key = self._keys[storage]
        if reach == count:
            self.storages[key] = _turned(t.detach().as_strided((count,), (1,), 0), t.is_conj(), t.is_neg())
        return "storage", _Named("torch", _STORAGE_OF[t.dtype.name]), key, "cpu", count


class _StorageRef:
    def __init__(self, description):
        self.description = description


def _reach(t):
    """How many elements of its storage, from the first on, a tensor shows or passes over."""
    if t.numel() == 0:
        return 0
    return t.storage_offset() + 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))


def _turned(t, conj, neg):
    """The same bytes with the marks of a conjugate or negative view turned over."""
    t = t._conj() if conj else t
    return t._neg_view() if neg else t


def _bytes_of(flat):
    return (flat.view(weir.int16) if flat.dtype is weir.bfloat16 else flat).numpy().tobytes()


def save(obj, f, pickle_module=None, pickle_protocol=_PROTOCOL, _use_new_zipfile_serialization=True) -> None:
    """Writes `obj` (tensors in plain containers) to a path or file that torch.load can read.

    A path ending in .safetensors is written in that format; `obj` must then map names to tensors.
    """
    if _is_safetensors(f):
        from .io_safetensors import save_file
        return save_file(obj, f)
    scout = _Pickler(io.BytesIO())  # finds how much of each storage all tensors together show
    scout.dump(obj)
    data = io.BytesIO()
    pickler = _Pickler(data, scout.reaches)
    pickler.dump(obj)
    root = os.path.splitext(os.path.basename(f))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    with zipfile.ZipFile(f, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{root}/data.pkl", data.getvalue())
        archive.writestr(f"{root}/byteorder", "little")
        for key, flat in pickler.storages.items():
            archive.writestr(f"{root}/data/{key}", _bytes_of(flat))
        archive.writestr(f"{root}/version", "3\n")


def _is_safetensors(f):
    return isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(".safetensors")


class _Unpickler(pickle.Unpickler):
    """Knows how to rebuild tensors and plain containers; any other name is an error."""

    def __init__(self, file, read_storage):
        super().__init__(file, encoding="utf-8")
        self._read_storage, self._storages = read_storage, {}

    def find_class(self, module, name):
        if module == "torch" and name in _DTYPE_OF:
            return _DTYPE_OF[name]
        if module == "torch" and isinstance(getattr(weir, name, None), weir.dtype):
            return getattr(weir, name)
        if (module, name) in _KNOWN:
            return _KNOWN[module, name]
        raise pickle.UnpicklingError(f"load: the file names {module}.{name}, which is not among the types that can be "
                                     "loaded safely")

    def persistent_load(self, description):
        if not isinstance(description, tuple) or len(description) != 5 or description[0] != "storage":
            raise pickle.UnpicklingError("load: malformed storage reference")
        _, dtype, key, _, count = description
        if key not in self._storages:
            self._storages[key] = _Storage(self._read_storage(key), dtype, count)
        return self._storages[key]


class _Storage:
    """One storage of the file as a 1-d tensor, shared by all tensors over it."""

    def __init__(self, memory, dtype, count):
        if dtype not in _STORAGE_OF:
            raise pickle.UnpicklingError(f"load: unknown storage type {dtype!r}")
        dtype = getattr(weir, dtype)
        if len(memory) < count * dtype.itemsize:
            raise pickle.UnpicklingError(f"load: a storage holds {len(memory)} bytes, expected {count * dtype.itemsize}")
        if count == 0:
            self.flat = weir.empty(0, dtype=dtype)
        else:
            self.flat = weir.from_numpy(np.frombuffer(bytearray(memory), np.uint8, count * dtype.itemsize)).view(dtype)


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    if not isinstance(storage, _Storage):
        raise pickle.UnpicklingError("load: a tensor without a storage")
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride) or offset < 0 or any(s < 0 for s in (*size, *stride)):
        raise pickle.UnpicklingError("load: a tensor with malformed sizes")
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else -1
    if last >= storage.flat.numel():
        raise pickle.UnpicklingError("load: a tensor reaches beyond its storage")
    marks = metadata if isinstance(metadata, dict) else {}
    t = _turned(storage.flat.as_strided(size, stride, offset), marks.get("conj"), marks.get("neg"))
    return t.detach().requires_grad_(requires_grad)


def _rebuild_parameter(data, requires_grad=True, hooks=None):
    return weir.nn.Parameter(data, requires_grad)


_KNOWN = {
    ("collections", "OrderedDict"): OrderedDict,
    ("torch", "Size"): weir.Size,
    ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
    ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
    ("__builtin__", "set"): set, ("builtins", "set"): set, ("builtins", "frozenset"): frozenset,
    ("builtins", "complex"): complex, ("__builtin__", "complex"): complex,
    ("builtins", "bytearray"): bytearray, ("__builtin__", "bytearray"): bytearray,
    ("builtins", "slice"): slice,
    ("_codecs", "encode"): lambda text, encoding="latin1": text.encode("latin1"),
}


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, **pickle_load_args):
    """Reads what `save` or torch.save wrote: tensors, plain containers, numbers and strings.

    Raises pickle.UnpicklingError for anything else, also with weights_only=False: no file runs code here.
    map_location: a device, or a function or dict to one. `mmap` is accepted and ignored.
    """
    if _is_safetensors(f):
        from .io_safetensors import load_file
        return _moved(load_file(f), map_location)
    if not zipfile.is_zipfile(f):
        if isinstance(f, (str, os.PathLike)) and not os.path.exists(f):
            raise FileNotFoundError(f"[Errno 2] No such file or directory: {os.fspath(f)!r}")
        raise pickle.UnpicklingError("load: not a file in PyTorch's zip format")
    with zipfile.ZipFile(f) as archive:
        names = [n for n in archive.namelist() if n.endswith("/data.pkl")]
        if not names:
            raise pickle.UnpicklingError("load: the archive holds no data.pkl")
        root = names[0][:-len("data.pkl")]
        text = archive.read(names[0])
        result = _Unpickler(io.BytesIO(text), lambda key: archive.read(f"{root}data/{key}")).load()
    return _moved(result, map_location)


def _moved(obj, location):
    """`obj` with its tensors on the device; files hold CPU memory, so the CPU needs no move."""
    if isinstance(location, dict):
        location = location.get("cpu")
    if location is None or callable(location) or weir.device(location).type == "cpu":
        return obj
    if isinstance(obj, Tensor):
        return obj.to(location)
    if isinstance(obj, dict):
        return type(obj)((k, _moved(v, location)) for k, v in obj.items())
    if isinstance(obj, (list, tuple)):
        return type(obj)(_moved(v, location) for v in obj)
    return obj
