"""save and load in PyTorch's zip format.

A file is a zip archive: `<root>/data.pkl` is a pickle whose tensors name their storages, `<root>/data/<key>` is the
raw memory of one storage. Reading never runs code from the file (_pickle_reader.py); writing replaces the file as a
whole (_atomic.py). Source: the layout of files written by torch.save.
"""

import contextlib
import errno
import io
import mmap as _mmap
import os
import pickle
import struct
import types
import typing
import warnings
import zipfile
import zlib
from collections import Counter, OrderedDict

import weir
from _weir import _numpy
from weir._C import Tensor
from weir import _trusted_pickles
from weir._atomic import replacing
from weir._pickle_reader import Allowed, LoadError, Reader
from weir._tensor import written_on
from weir.storage import UntypedStorage, is_storage
from weir._rebuilt import (_BY_BYTES, _DTYPE_OF, _STORAGE_OF, _Storages, _layout, _rebuild_from_type_v2, _rebuild_parameter,
                           _rebuild_parameter_with_state, _rebuild_sparse_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3)

MAP_LOCATION = typing.Optional[typing.Union[typing.Callable, weir.device, str, dict]]  # what load's `map_location` may be
FILE_LIKE = typing.Union[str, os.PathLike, typing.BinaryIO, typing.IO[bytes]]
DEFAULT_PROTOCOL = 2
_PROTOCOL = 2  # what torch.load(weights_only=True) reads


class _Named:
    """Stands for a class or function of PyTorch that the pickle names but that need not exist here."""

    def __init__(self, module, name):
        self.module, self.name = module, name


class _Call:
    """Stands for what a function of PyTorch answers."""

    def __init__(self, function, args):
        self.function, self.args = function, args


class _Pickler(pickle._Pickler):
    """Writes tensors as PyTorch's rebuild calls and gathers their storages.

    The Python pickler, because names such as `torch FloatStorage` must be written without importing them.
    """

    def __init__(self, file, protocol=_PROTOCOL):
        super().__init__(file, protocol)
        self.storages = {}  # key -> its bytes, as a 1-d tensor
        self._keys = {}
        self._alive = []    # addresses tell storages apart only while they live

    def _named(self, module, name):
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, _Named):
            return self._named(obj.module, obj.name)
        if isinstance(obj, _Call):
            return self.save_reduce(obj.function, obj.args)
        if isinstance(obj, weir.dtype):
            return self._named("torch", str(obj).rpartition(".")[2])
        if isinstance(obj, Tensor):
            return self._save_tensor(obj)
        if isinstance(obj, weir.device):
            return self.save_reduce(_Named("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index), obj=obj)
        if isinstance(obj, weir.layout):
            return self.save_reduce(_Named("torch.serialization", "_get_layout"), (str(obj),), obj=obj)
        if type(obj) is weir.Size:
            return self.save_reduce(_Named("torch", "Size"), (tuple(obj),), obj=obj)
        return super().save(obj, save_persistent_id)

    def save_global(self, obj, name=None):
        name = name or getattr(obj, "__qualname__", None) or obj.__name__
        home = _trusted_pickles.home_in_pytorch(obj, name)
        if home is None:
            return super().save_global(obj, name)
        self._named(home, name)
        self.memoize(obj)

    dispatch = {**pickle._Pickler.dispatch, types.FunctionType: save_global}

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
        if str(t.layout) != "torch.strided":
            layout = _Call(_Named("torch.serialization", "_get_layout"), (str(t.layout),))
            self._alive.append(t)
            return self.save_reduce(_Named("torch._utils", "_rebuild_sparse_tensor"), (layout, t._parts()), obj=t)
        kind, state = type(t), written_on(t)
        if kind is weir.nn.Buffer:  # which PyTorch marks, and has no class for
            kind, state = Tensor, {**state, "_is_buffer": True}
        self._alive.append(t)
        if isinstance(t, weir.nn.Parameter):
            args = (t.detach(), t.requires_grad, OrderedDict())
            name = _Named("torch._utils", "_rebuild_parameter_with_state" if state else "_rebuild_parameter")
            return self.save_reduce(name, (*args, state) if state else args, obj=t)
        args = (_StorageRef(self._storage(t)), t.storage_offset(), tuple(t.shape), tuple(t.stride()),
                bool(t.requires_grad), OrderedDict())
        marks = {name: True for name, marked in (("conj", t.is_conj()), ("neg", t.is_neg())) if marked}
        new = t.dtype.name in _BY_BYTES
        args += (t.dtype, marks) if new and marks else (t.dtype,) if new else (marks,) if marks else ()
        make = _Named("torch._utils", "_rebuild_tensor_v3" if new else "_rebuild_tensor_v2")
        if kind is Tensor and not state:
            return self.save_reduce(make, args, obj=t)
        kind = _Named("torch", "Tensor") if kind is Tensor else kind
        self.save_reduce(_Named("torch._tensor", "_rebuild_from_type_v2"), (make, kind, args, state), obj=t)

    def persistent_id(self, obj):
        if is_storage(obj):
            return self._storage(obj._flat, untyped=isinstance(obj, UntypedStorage))
        return obj.description if isinstance(obj, _StorageRef) else None

    def _storage(self, t, untyped=False):
        if t.device.type != "cpu":
            t = t.detach().cpu()
        memory = weir._C._storage_as_bytes(t)
        count = memory.numel() // t.itemsize
        storage = (t._storage_ptr(), t.dtype.name) if count else ("empty", id(t))
        self._alive.append(t)
        key = self._keys.setdefault(storage, str(len(self._keys)))
        self.storages[key] = memory[:count * t.itemsize]
        if untyped or t.dtype.name in _BY_BYTES:
            return "storage", _Named("torch.storage", "UntypedStorage"), key, "cpu", count * t.itemsize
        return "storage", _Named("torch", _STORAGE_OF[t.dtype.name]), key, "cpu", count


class _StorageRef:
    def __init__(self, description):
        self.description = description


def _bytes_of(flat):
    return memoryview(_numpy(flat, True))


def save(obj, f, pickle_module=None, pickle_protocol=_PROTOCOL, _use_new_zipfile_serialization=True) -> None:
    """Writes `obj` (tensors in plain containers) to a path or file that torch.load can read.

    A path is replaced only once the new file is complete and on disk. A path ending in .safetensors is written in that
    format; `obj` must then map names to tensors.
    """
    if _is_safetensors(f):
        from .io_safetensors import save_file
        return save_file(obj, f)
    data = io.BytesIO()
    pickler = _Pickler(data, pickle_protocol)
    pickler.dump(obj)
    if not isinstance(f, (str, os.PathLike)):
        return _write_archive(f, "archive", data.getvalue(), pickler.storages)
    with replacing(f) as file:
        _write_archive(file, os.path.splitext(os.path.basename(f))[0], data.getvalue(), pickler.storages)


def _write_archive(file, root, text, storages):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{root}/data.pkl", text)
        archive.writestr(f"{root}/byteorder", "little")
        for key, flat in storages.items():
            _write_aligned(archive, f"{root}/data/{key}", _bytes_of(flat))
        archive.writestr(f"{root}/version", "3\n")


_ALIGNMENT = 64  # bytes, as in PyTorch's files: a mapped storage is then as aligned as a new one
_PADDING_FIELD = 0x4246  # "FB", the extra field that PyTorch pads with


def _write_aligned(archive, name, memory):
    entry = zipfile.ZipInfo(name)
    start = archive.start_dir + 30 + len(name.encode()) + 4  # the entry's header, its name and the field's header
    padding = -start % _ALIGNMENT
    entry.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
    archive.writestr(entry, memory)


def _is_safetensors(f):
    return isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(".safetensors")


def _size(items=()):
    if not isinstance(items, (tuple, list)) or not all(type(n) is int for n in items):
        raise LoadError("a Size of what are no ints")
    return weir.Size(items)


def _device(*args):
    try:
        return weir.device(*args)
    except (RuntimeError, TypeError) as error:
        raise LoadError(f"an unknown device: {error}") from None


def _bytearray(data=b"", encoding="latin1"):
    if isinstance(data, str):
        data = _latin1(data, encoding.replace("-", ""))
    if not isinstance(data, bytes):
        raise LoadError("a bytearray of what are no bytes")
    return bytearray(data)


def _latin1(text, encoding="latin1"):
    if not isinstance(text, str) or encoding != "latin1":
        raise LoadError("malformed bytes")
    return text.encode("latin1")


_get_layout = _layout  # as PyTorch's pickles name it
_KNOWN = {
    ("collections", "OrderedDict"): Allowed(OrderedDict, attributes=True),
    ("collections", "Counter"): Allowed(Counter),
    ("torch", "Size"): Allowed(_size, value=weir.Size),
    ("torch", "device"): Allowed(_device, value=weir.device),
    ("torch._utils", "_rebuild_tensor_v2"): Allowed(_rebuild_tensor_v2),
    ("torch._utils", "_rebuild_tensor_v3"): Allowed(_rebuild_tensor_v3),
    ("torch._utils", "_rebuild_parameter"): Allowed(_rebuild_parameter),
    ("torch._utils", "_rebuild_parameter_with_state"): Allowed(_rebuild_parameter_with_state),
    ("torch._tensor", "_rebuild_from_type_v2"): Allowed(_rebuild_from_type_v2),
    ("torch._utils", "_rebuild_sparse_tensor"): Allowed(_rebuild_sparse_tensor),
    ("torch.serialization", "_get_layout"): Allowed(_layout),
    ("_codecs", "encode"): Allowed(_latin1),
    **{(module, kind.__name__): Allowed(kind) for module in ("builtins", "__builtin__")
       for kind in (set, frozenset, complex, slice)},
    **{(module, "bytearray"): Allowed(_bytearray, value=bytearray) for module in ("builtins", "__builtin__")},
}
_safe_globals = {}  # (module, name) -> Allowed, what the user trusts files to name


def _find(module, name):
    if module == "torch" and name in _DTYPE_OF:
        return _DTYPE_OF[name]
    if (module, name) == ("torch.storage", "UntypedStorage"):
        return "uint8"
    if (module, name) == ("torch", "Tensor"):
        return Tensor
    if module == "torch.return_types" and isinstance(kind := getattr(weir.return_types, name, None), type):
        return Allowed(kind)
    if module == "torch" and isinstance(getattr(weir, name, None), weir.dtype):
        return getattr(weir, name)
    found = _KNOWN.get((module, name)) or _safe_globals.get((module, name))
    if found is None:
        raise LoadError(f"the file names {module}.{name}, which is not among the types that can be loaded safely; if you trust "
                        "the file, allow it with serialization.add_safe_globals")
    return found


def _entries(items):
    """(module, name) -> Allowed for classes, functions and pairs (object, "module.name")."""
    for item in items:
        target, name = item if isinstance(item, tuple) else (item, f"{item.__module__}.{item.__qualname__}")
        yield tuple(name.rpartition(".")[::2]), Allowed(target, attributes=True, new=isinstance(target, type))


def add_safe_globals(safe_globals: list) -> None:
    """Classes and functions that files may name from now on: loading calls them with what the file says."""
    _safe_globals.update(_entries(safe_globals))


def clear_safe_globals() -> None:
    """Takes all of them back."""
    _safe_globals.clear()


def get_safe_globals() -> list:
    """What add_safe_globals was given."""
    return [entry.make for entry in _safe_globals.values()]


@contextlib.contextmanager
def safe_globals(safe_globals: list):
    """add_safe_globals for a block."""
    before = dict(_safe_globals)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe_globals.clear()
        _safe_globals.update(before)


#: What reading a broken archive raises, whichever part of it is broken.
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, LookupError, OverflowError,
           *((zipfile.lzma.LZMAError,) if zipfile.lzma else ()))


def _only_weights(asked):
    """Whether a file is to be read as data only: as asked for, or as the environment says of calls that do not ask (of all, to be strict)."""
    strict, trusting = (os.environ.get(name, "").lower() in ("1", "y", "yes", "true")
                        for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"))
    if strict and trusting:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both were set.")
    if trusting and asked is None:
        warnings.warn("Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not explicitly passed to "
                      "`torch.load`, forcing weights_only=False.", stacklevel=3)
        return False
    return True if strict or asked is None else asked


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what `save` or torch.save wrote: tensors, plain containers, numbers and strings.

    Raises LoadError (a pickle.UnpicklingError) with the file and the reason for anything else. With weights_only=False (None is True), for files that you
    trust, also whole modules, arrays, options and objects of classes that the program has imported; even then no function that a file
    names is called. map_location: a device, or a function or dict to one. With mmap=True storages are the file's own pages, read when touched and private to the process when written.
    """
    weights_only = _only_weights(weights_only)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("load: mmap=True needs a path")
    name = os.fspath(f) if isinstance(f, (str, os.PathLike)) else getattr(f, "name", "file object")
    try:
        if _is_safetensors(f):
            from .io_safetensors import load_file
            return _moved(load_file(f), map_location)
        if not isinstance(f, (str, os.PathLike)):
            return _moved(_read(f, None, weights_only), map_location)
        with open(f, "rb") as file:
            return _moved(_read(file, _mapped(file) if mmap else None, weights_only), map_location)
    except (LoadError, *_BROKEN) as error:
        raise LoadError(f"load: {name}: {error}") from None
    except OSError as error:
        if error.errno is None:  # not the system's: a decompressor's, of an entry that says it is compressed
            raise LoadError(f"load: {name}: {error}") from None
        if error.errno != errno.EINVAL:
            raise
        raise LoadError(f"load: {name}: an entry begins before the file does") from None  # where zipfile would have to look


def _mapped(file):
    return _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY)


def _trusted(module, name):
    """`_find` for a file that its reader trusts."""
    if (module, name) in _KNOWN and _KNOWN[module, name].make in (OrderedDict, Counter):
        return _trusted_pickles.find(module, name)  # which may also be a value
    try:
        return _find(module, name)
    except LoadError:
        return _trusted_pickles.find(module, name)


def _read(file, mapped, weights_only):
    finding = (_find, None) if weights_only else (_trusted, _trusted_pickles.make)
    start = file.tell()
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            return _read_archive(archive, mapped, *finding)
    file.seek(start)
    if mapped:
        raise LoadError("mmap=True needs PyTorch's zip format")
    from ._legacy_format import is_legacy, read_legacy
    if is_legacy(file):
        return read_legacy(file, *finding, _Storages)
    raise LoadError("not a file in PyTorch's zip format")


_MOST_EXPANSION = 64  # times: torch.save compresses nothing, so more than this is no honest archive


def _check_sizes(archive, bytes_in_file):
    """Refuses archives that would grow far beyond themselves, as bombs of compressed or overlapping entries do."""
    total = 0
    for entry in archive.infolist():
        total += entry.file_size
        if entry.flag_bits & 1:
            raise LoadError(f"{entry.filename} is encrypted")
        if entry.file_size > max(entry.compress_size, 4096) * _MOST_EXPANSION:
            raise LoadError(f"{entry.filename} expands {entry.file_size} bytes from {entry.compress_size}")
    if total > max(bytes_in_file, 65536) * _MOST_EXPANSION:
        raise LoadError(f"the archive expands {total} bytes from {bytes_in_file}")


def _read_archive(archive, mapped, find, make):
    archive.fp.seek(0, os.SEEK_END)
    _check_sizes(archive, archive.fp.tell())
    names = [n for n in archive.namelist() if n == "data.pkl" or n.endswith("/data.pkl")]
    if not names:
        raise LoadError("the archive holds no data.pkl")
    root = names[0][:-len("data.pkl")]
    if f"{root}byteorder" in archive.namelist() and archive.read(f"{root}byteorder") != b"little":
        raise LoadError("the file was written in another byte order")

    def storage(key, size):
        try:
            entry = archive.getinfo(f"{root}data/{key}")
        except KeyError:
            raise LoadError(f"the archive lacks storage {key!r}") from None
        if entry.file_size < size:
            raise LoadError(f"a storage holds {entry.file_size} bytes, expected {size}")
        return _mapped_entry(archive, entry, mapped) if mapped else bytearray(archive.read(entry))

    return Reader(io.BytesIO(archive.read(names[0])), find, _Storages(storage), make).read()


def _mapped_entry(archive, entry, mapped):
    if entry.compress_type != zipfile.ZIP_STORED:
        raise LoadError(f"{entry.filename} is compressed and so cannot be mapped")
    with archive.open(entry):  # checks the entry's own header
        pass
    name, extra = struct.unpack_from("<HH", mapped, entry.header_offset + 26)
    start = entry.header_offset + 30 + name + extra
    if start + entry.file_size > len(mapped):
        raise LoadError(f"{entry.filename} reaches beyond the file")
    return memoryview(mapped)[start:start + entry.file_size]


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


def __getattr__(name):
    """What libraries ask about files beside saving and loading."""
    from . import _checkpoint_files
    return getattr(_checkpoint_files, name)
