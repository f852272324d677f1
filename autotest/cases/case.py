"""A case: one call of one op, as data that any torch-like framework can rebuild.

Tensors become descriptors over raw storage bytes, so that strides, offsets, overlap and shared
storage survive the trip. Bytes rather than seeds: a framework's random numbers depend on its
version and on the SIMD level of the machine.
"""

import builtins
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from . import dtypes
from .program import Ref


class Unmappable(Exception):
    """A value that has no representation outside the framework it came from."""


@dataclass(frozen=True)
class TensorSpec:
    """A strided view of `storages[storage]`; `id` is equal for two mentions of one tensor.

    `conj`: a complex tensor that shows its storage conjugated, as `Tensor.conj()` does without a copy. `numpy`: no tensor but a
    NumPy array.
    """

    id: int
    dtype: str
    size: tuple
    stride: tuple
    offset: int
    storage: int
    requires_grad: bool
    conj: bool = False
    numpy: bool = False


@dataclass(frozen=True)
class Named:
    """A framework constant: `kind` is dtype, layout, memory_format, device, type (Python's own, as `float`) or
    function, whose name is its path below the framework."""

    kind: str
    name: str


@dataclass(frozen=True)
class Made:
    """An argument that is itself a module: the class at `path`, called with `args` and `kwargs`."""

    path: str
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)


@dataclass
class Case:
    """`fn(*args, **kwargs)`, and how to ask for it.

    `process` is a shipped function that maps the
    output to its well-defined part (the sign of a singular vector is not, its magnitude is).
    `relation` says how the call is made (call, inplace, out, autocast), `differentiate` to which order.
    `casts`: under autocast, whether the oracle's answer is another than without it, and so has the digits of the lower precision. It is
    what the oracle observed, and no part of the case: files do not hold it, and every expectation asks anew.
    """

    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    storages: list = field(default_factory=list)  # (dtype, bytes)
    process: Any = None
    relation: str = "call"
    differentiate: int = 0
    casts: bool = field(default=True, repr=False, compare=False)
    sway: tuple | None = field(default=None, repr=False, compare=False)  # of reruns: a seed, and by how much each cotangent is moved at most


#: Types that hold nothing: asked first, since trees are small and most of what is in them are leaves.
_ATOMS = {TensorSpec, Named, Made, Ref, int, float, bool, complex, str, type(None)}


def map_tree(leaf, tree):
    """Applies `leaf` to everything in `tree` that is not a tuple, list, dict or slice."""
    if type(tree) in _ATOMS or not isinstance(tree, (tuple, list, dict, slice)):
        return leaf(tree)
    if isinstance(tree, dict):
        return {key: map_tree(leaf, item) for key, item in tree.items()}
    if isinstance(tree, slice):
        return slice(*(map_tree(leaf, part) for part in (tree.start, tree.stop, tree.step)))
    items = [leaf(item) if type(item) in _ATOMS else map_tree(leaf, item) for item in tree]
    return items if isinstance(tree, list) else tuple(items)


def leaves(tree) -> list:
    """The leaves of `tree`, left to right."""
    found: list = []
    _gather(tree, found)
    return found


def _gather(tree, found: list) -> None:
    if type(tree) in _ATOMS or not isinstance(tree, (tuple, list, dict, slice)):
        return found.append(tree)
    parts = tree.values() if isinstance(tree, dict) else tree if not isinstance(tree, slice) else (tree.start, tree.stop, tree.step)
    for part in parts:
        _gather(part, found)


def _at(root, path: str):
    """`root.a.b.c` for path `a.b.c`, None where there is no such thing."""
    for part in path.split("."):
        root = getattr(root, part, None)
    return root


def tensors_of(case: Case) -> list[TensorSpec]:
    """The distinct tensors of a case, in order of mention."""
    found = {leaf.id: leaf for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, TensorSpec)}
    return list(found.values())


def gradient_inputs(case: Case) -> list[TensorSpec]:
    """Descriptors of the distinct inputs that require a gradient, in order of mention."""
    return [spec for spec in tensors_of(case) if spec.requires_grad]


def seen(flat: np.ndarray, spec: TensorSpec) -> np.ndarray:
    """The elements of a storage, `flat`, that `spec` sees, without a copy."""
    if 0 in spec.size:
        return np.empty(spec.size, flat.dtype)
    strides = [stride * flat.itemsize for stride in spec.stride]
    return np.ndarray(spec.size, flat.dtype, flat, spec.offset * flat.itemsize, strides)


def cotangents(count: int) -> np.ndarray:
    """The gradients that are sent into a result of so many elements: no two neighbours alike, and exact in every dtype."""
    return ((np.arange(count) * 7 + 3) % 11 - 5) / 4


class Encoder:
    """Turns PyTorch values into case data. Tensors encoded by one Encoder share storages.

    `made` gives path, args and kwargs of modules by id, for those that are arguments.
    """

    def __init__(self, torch, made: dict | None = None):
        self._torch = torch
        self._made = made or {}
        self._storage_ids: dict = {}
        self._specs: dict = {}
        self._alive: list = []  # keeps the ids used as keys above from being reused
        self.storages: list = []

    def encode(self, tree):
        """The data of `tree`. Raises Unmappable for modules, generators, sparse tensors, ..."""
        return map_tree(self._leaf, tree)

    def _leaf(self, value):
        torch = self._torch
        if value is None or value is Ellipsis or type(value) in (bool, int, float, complex, str):
            return value
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, np.generic):
            return value.item()
        for kind in ("dtype", "layout", "memory_format", "device"):
            if isinstance(value, getattr(torch, kind)):
                return Named(kind, str(value).removeprefix("torch."))
        if id(value) in self._made:
            path, args, kwargs = self._made[id(value)]
            return Made(path, self.encode(tuple(args)), self.encode(kwargs))
        for path in (f"nn.functional.{getattr(value, '__name__', '')}", getattr(value, "__name__", "")):
            if callable(value) and _at(torch, path) is value:
                return Named("function", path)
        raise Unmappable(f"{type(value).__name__} cannot be sent to another framework")

    def _tensor(self, tensor) -> TensorSpec:
        if id(tensor) not in self._specs:
            self._alive.append(tensor)
            self._specs[id(tensor)] = self._describe(tensor)
        return self._specs[id(tensor)]

    def _describe(self, tensor) -> TensorSpec:
        dtype = dtypes.name_of(tensor.dtype)
        requires_grad = tensor.requires_grad
        if tensor.layout != self._torch.strided:
            raise Unmappable(f"{dtypes.name_of(tensor.layout)} tensor")
        if tensor.device.type != "cpu" or not dtypes.is_known(dtype):
            raise Unmappable(f"{dtype} tensor on {tensor.device}")
        tensor = tensor.detach()
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
            self._alive.append(tensor)
        return TensorSpec(len(self._specs), dtype, tuple(tensor.shape), tuple(tensor.stride()),
                          tensor.storage_offset(), self._storage(tensor, dtype), requires_grad)

    def _storage(self, tensor, dtype: str) -> int:
        storage = tensor.untyped_storage()
        # An empty storage has no address of its own: never shared.
        key = (storage.data_ptr() or id(tensor), dtype)
        if key not in self._storage_ids:
            self._alive.append(storage)
            self._storage_ids[key] = len(self.storages)
            data = self._torch.empty(0, dtype=self._torch.uint8).set_(storage).numpy().tobytes()
            whole = len(data) // tensor.element_size() * tensor.element_size()
            self.storages.append((dtype, data[:whole]))
        return self._storage_ids[key]


class Decoder:
    """Rebuilds the values of a case in framework `W`, any module with PyTorch's API.

    `tensors` are the tensors so far by descriptor id, `bases` those that own a storage, `results` the output tensors of
    a program's steps.
    """

    def __init__(self, W, storages):
        self._W = W
        self._storages = storages
        self.bases: dict = {}
        self.tensors: dict = {}
        self.results: list = []
        self._arrays: dict = {}
        self._memory: dict = {}

    def decode(self, tree):
        """The framework's values for encoded `tree`; one descriptor id, one tensor."""
        return map_tree(self._leaf, tree)

    def _leaf(self, value):
        if isinstance(value, TensorSpec) and value.numpy:
            if value.id not in self._arrays:
                dtype, data = self._storages[value.storage]
                numbers = dtypes.to_array(data, dtype) if dtype == "bool" else np.frombuffer(bytearray(data), dtypes.numpy_dtype(dtype))
                self._arrays[value.id] = seen(numbers, value)
            return self._arrays[value.id]
        if isinstance(value, TensorSpec):
            if value.id not in self.tensors:
                self.tensors[value.id] = self._tensor(value)
            return self.tensors[value.id]
        if isinstance(value, Named):
            return self._named(value)
        if isinstance(value, Made):
            return _at(self._W, value.path)(*self.decode(value.args), **self.decode(value.kwargs))
        if isinstance(value, Ref):
            return self.results[value.step][value.output]
        return value

    def changed(self) -> set:
        """The storages whose bytes are others than those of the case, in a framework that computes in the memory it was given."""
        return {storage for storage, data in self.memory() if data != self._storages[storage][1][:len(data)]}

    def memory(self) -> list:
        """Storages and their bytes as they are now, in a framework that computes in the memory it was given."""
        return [(storage, array.tobytes()) for storage, array in self._memory.items()]

    def _named(self, value: Named):
        if value.kind == "device":
            return self._W.device(value.name)
        if value.kind == "type":
            return getattr(builtins, value.name)
        return _at(self._W, value.name) if value.kind == "function" else getattr(self._W, value.name)

    def _tensor(self, spec: TensorSpec):
        tensor = self._whole(spec) if self._covers(spec) else self._view(spec)
        tensor = tensor.detach().conj() if spec.conj else tensor
        return tensor.requires_grad_(True) if spec.requires_grad else tensor

    def _covers(self, spec: TensorSpec) -> bool:
        """Whether `spec` is its whole storage in order, used by nobody else so far."""
        numel = prod(spec.size)
        if numel == 0:
            return True
        dtype, data = self._storages[spec.storage]
        return (spec.offset == 0 and spec.stride == row_major(spec.size)
                and numel * dtypes.numpy_dtype(dtype).itemsize == len(data) and spec.storage not in self.bases)

    def _whole(self, spec: TensorSpec):
        """Built without as_strided, so that a framework lacking it can still run most cases."""
        data = self._storages[spec.storage][1]
        if 0 in spec.size and data:  # what lies behind it is the storage's
            count = len(data) // dtypes.numpy_dtype(spec.dtype).itemsize
            array = self._memory.setdefault(spec.storage, _aligned(data, spec.dtype, (count,)))[:0].reshape(spec.size)
            return self._from_numpy(array, spec.dtype)
        array = _aligned(data, spec.dtype, spec.size)
        tensor = self._from_numpy(array, spec.dtype)
        if 0 not in spec.size:
            self.bases[spec.storage], self._memory[spec.storage] = tensor, array
        return tensor

    def _view(self, spec: TensorSpec):
        if spec.storage not in self.bases:
            dtype, data = self._storages[spec.storage]
            count = len(data) // dtypes.numpy_dtype(dtype).itemsize
            self._memory[spec.storage] = _aligned(data, dtype, (count,))
            self.bases[spec.storage] = self._from_numpy(self._memory[spec.storage], dtype)
        base = self.bases[spec.storage].detach()
        return self._W.as_strided(base, spec.size, spec.stride, spec.offset)

    def _from_numpy(self, array: np.ndarray, dtype: str):
        if dtypes.shows_bytes(array, dtype):
            return self._W.from_numpy(array.view(np.uint8)).view(self._W.bool)
        tensor = self._W.from_numpy(array)
        return tensor.view(getattr(self._W, dtype)) if dtype in dtypes.CARRIER else tensor


def _aligned(data: bytes, dtype: str, size: tuple) -> np.ndarray:
    """A copy of the first numbers, placed as frameworks place their own memory: on it hang the last bits of what some
    libraries compute."""
    kind = dtypes.numpy_dtype(dtype)
    array = np.ndarray(size, kind, *_MEMORY.place(prod(size) * kind.itemsize))
    if array.size:
        array[...] = np.ndarray(size, kind, data)
    return array


class _Memory:
    """Gives away parts of larger pieces, which live as long as any of their parts: to ask NumPy where an array begins takes
    longer than to make it."""

    _PIECE, _ALIGNMENT = 1 << 16, 64

    def __init__(self):
        self._used, self._end = 0, -1  # so that the first part needs a piece, even an empty one

    def place(self, length: int) -> tuple[np.ndarray, int]:
        """A buffer and the offset in it of `length` aligned bytes that nobody else has."""
        if self._used + length > self._end:
            self._buffer = np.empty(max(self._PIECE, length) + self._ALIGNMENT, np.uint8)
            self._used = -self._buffer.__array_interface__["data"][0] % self._ALIGNMENT
            self._end = len(self._buffer)
        start = self._used
        self._used += -(-length // self._ALIGNMENT) * self._ALIGNMENT
        return self._buffer, start


_MEMORY = _Memory()


@lru_cache(maxsize=4096)
def row_major(size: tuple) -> tuple:
    """The strides of a row-major tensor."""
    stride, step = [], 1
    for extent in reversed(size):
        stride.append(step)
        step *= max(extent, 1)
    return tuple(reversed(stride))
