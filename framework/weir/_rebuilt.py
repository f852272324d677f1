"""Storages and tensors as files describe them: what the names `torch._utils._rebuild_tensor_v2` and its kin stand for."""

import copyreg

import weir
from weir._C import Tensor
from weir._pickle_reader import Allowed, LoadError
from weir._tensor import set_state
from weir.storage import TypedStorage, UntypedStorage

_STORAGE_OF = {"float32": "FloatStorage", "float64": "DoubleStorage", "float16": "HalfStorage",
               "bfloat16": "BFloat16Storage", "int64": "LongStorage", "int32": "IntStorage", "int16": "ShortStorage",
               "int8": "CharStorage", "uint8": "ByteStorage", "bool": "BoolStorage",
               "complex64": "ComplexFloatStorage", "complex128": "ComplexDoubleStorage"}
#: dtypes younger than these names: their storages are bytes, and each tensor says its dtype.
_BY_BYTES = {name: getattr(weir, name) for name in "uint16 uint32 uint64 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz "
             "float8_e8m0fnu complex32".split()}
_DTYPE_OF = {storage: dtype for dtype, storage in _STORAGE_OF.items()}


def _turned(t, conj, neg):
    """The same bytes with the marks of a conjugate or negative view turned over."""
    t = t._conj() if conj else t
    return t._neg_view() if neg else t


def _storage(memory, dtype, count):
    """One storage of the file, shared by all tensors over it; `read` are its numbers as a 1-d tensor, made once."""
    dtype = getattr(weir, dtype)
    if len(memory) < count * dtype.itemsize:
        raise LoadError(f"a storage holds {len(memory)} bytes, expected {count * dtype.itemsize}")
    flat = weir._C._from_buffer(memory, dtype, count, 0) if count else weir.empty(0, dtype=dtype)
    storage = TypedStorage(wrap_storage=UntypedStorage(wrap_tensor=flat), dtype=dtype)
    storage.read = flat
    return storage


class _Storages:
    """The storages that a pickle refers to, read when first met. `read(key, bytes)` answers writable memory."""

    def __init__(self, read):
        self._read, self._known = read, {}

    def __call__(self, description):
        if not isinstance(description, tuple) or len(description) != 5 or description[0] != "storage":
            raise LoadError("malformed storage reference")
        _, dtype, key, _, count = description
        if not isinstance(dtype, str) or dtype not in _STORAGE_OF:
            raise LoadError(f"unknown storage type {dtype!r}")
        if not isinstance(key, str) or type(count) is not int or not 0 <= count < 2**60:
            raise LoadError(f"malformed storage reference: key {key!r}, {count!r} elements")
        if key not in self._known:
            self._known[key] = _storage(self._read(key, count * getattr(weir, dtype).itemsize), dtype, count)
        known = self._known[key].read
        if known.dtype is not getattr(weir, dtype) or known.numel() < count:
            raise LoadError(f"storage {key!r} is described in two ways")
        return self._known[key]


def _whole(*numbers):
    return all(type(n) is int and 0 <= n < 2**62 for n in numbers)


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None):
    if not isinstance(storage, TypedStorage):
        raise LoadError("a tensor without a storage or sizes")
    return _shown(storage.read, offset, size, stride, requires_grad, metadata)


def _shown(flat, offset, size, stride, requires_grad, metadata):
    """The tensor of these sizes and strides over the numbers of a storage."""
    if not isinstance(size, tuple) or not isinstance(stride, tuple):
        raise LoadError("a tensor without a storage or sizes")
    if len(size) != len(stride) or not _whole(offset, *size, *stride) or type(requires_grad) is not bool:
        raise LoadError("a tensor with malformed sizes")
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else -1
    if last >= flat.numel():
        raise LoadError("a tensor reaches beyond its storage")
    marks = metadata if isinstance(metadata, dict) else {}
    try:
        t = _turned(flat.as_strided(size, stride, offset), marks.get("conj") is True, marks.get("neg") is True)
        return t.detach().requires_grad_(requires_grad)
    except (RuntimeError, TypeError) as error:
        raise LoadError(f"a tensor that cannot be made: {error}") from None


def _rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    """As v2, of a storage of bytes."""
    if not isinstance(storage, TypedStorage) or getattr(dtype, "name", None) not in _BY_BYTES or storage.dtype is not weir.uint8:
        raise LoadError("a tensor without a storage of bytes or a dtype")
    whole = storage.read[:storage.read.numel() // dtype.itemsize * dtype.itemsize]
    flat = weir._C._mark_truths(whole.view(dtype)) if whole.numel() else weir.empty(0, dtype=dtype)
    return _shown(flat, offset, size, stride, requires_grad, metadata)


def _rebuild_parameter(data, requires_grad=True, hooks=None):
    if not isinstance(data, Tensor) or type(requires_grad) is not bool:
        raise LoadError("a parameter without a tensor")
    return weir.nn.Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, hooks, state):
    return _written(_rebuild_parameter(data, requires_grad, hooks), state)


def _rebuild_from_type_v2(make, kind, args, state):
    """A tensor of a class, or with attributes that a program wrote on it."""
    kind, make = (named.make if isinstance(named, Allowed) else named for named in (kind, make))
    if not any(make is known for known in _MAKERS) or not isinstance(args, tuple):
        raise LoadError("a tensor that no function of tensors makes")
    if not isinstance(kind, type) or not issubclass(kind, Tensor):
        raise LoadError(f"a tensor of a class that is none: {kind!r:.80}")
    made = make(*args)
    return _written(made if type(made) is kind else weir._C._make_subclass(kind, made, made.requires_grad), state)


def _written(t, state):
    parts = state if isinstance(state, tuple) else (state, None)
    if len(parts) != 2 or not all(part is None or type(part) is dict and all(isinstance(name, str) for name in part) for part in parts):
        raise LoadError("a tensor whose attributes are no table of names")
    if set(parts[1] or {}) - set(copyreg._slotnames(type(t))):
        raise LoadError(f"a {type(t).__name__} with slots that its class does not have")
    set_state(t, (parts[0] or {}, parts[1] or {}))
    return t


def _layout(name):
    if name not in ("torch.strided", "torch.sparse_coo", "torch.sparse_csr", "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc"):
        raise LoadError(f"an unknown layout: {name!r}")
    return getattr(weir, name.removeprefix("torch."))


def _rebuild_sparse_tensor(layout, parts):
    tensors = 2 if layout is weir.sparse_coo else 3
    if not any(layout is known for known in (weir.sparse_coo, weir.sparse_csr, weir.sparse_csc)) or not isinstance(parts, tuple) or not tensors < len(parts) <= 4 or \
            not all(isinstance(p, Tensor) for p in parts[:tensors]) or not isinstance(parts[tensors], tuple):
        raise LoadError("a sparse tensor without indices, values or sizes")
    from weir.sparse._build import rebuild
    try:
        return rebuild(str(layout).removeprefix("torch."), parts)
    except (RuntimeError, TypeError, IndexError) as error:
        raise LoadError(f"a sparse tensor that cannot be made: {error}") from None


_MAKERS = (_rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter)  # what a tensor with attributes may begin as
