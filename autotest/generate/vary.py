"""Changes a call that is known to be good: other values, layouts, dtypes and sizes, another constant or keyword.

Samples of PyTorch's databases reach what signatures cannot tell; varied by choices, each stands for many calls.
"""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ..cases import dtypes
from ..cases.case import TensorSpec, leaves, map_tree, row_major, seen
from . import arguments, fill
from .choices import Choices
from .signature import Overload

_TENSORS = ("same",) * 8 + ("values", "values", "layout", "layout", "dtype", "extent", "grad")
_KEYWORD = 0.25  # how often a keyword is added or dropped
_CONSTANT = 0.25  # how often a constant gets another value
_LARGEST = 4096  # elements of a sample's storage: larger samples are left out


@dataclass
class Sample:
    """Arguments of a call (or of several, as `trees`) over `storages`."""

    trees: tuple
    storages: list = field(default_factory=list)

    @property
    def small(self) -> bool:
        return all(len(data) <= _LARGEST * dtypes.numpy_dtype(dtype).itemsize for dtype, data in self.storages)

    def without_gradients(self) -> "Sample":
        """The same arguments, none of which requires a gradient."""
        def leaf(value):
            return replace(value, requires_grad=False) if isinstance(value, TensorSpec) else value

        return Sample(map_tree(leaf, self.trees), self.storages)


def simplest_first(samples: list[Sample]) -> list[Sample]:
    """`samples` by size: choosing lower then means something smaller."""
    return sorted(samples, key=lambda sample: sum(len(data) for _, data in sample.storages))


def varied(sample: Sample, signature: Overload, dtype: str, choices: Choices) -> Sample:
    """`sample` with some changes. The first two trees are the args and kwargs that `signature` describes."""
    args, kwargs, *others = sample.trees
    trees = _constant((args, _keywords(args, kwargs, signature, dtype, choices), *others), choices)
    storages: list = []
    known: dict = {}

    def leaf(value):
        if not isinstance(value, TensorSpec):
            return value
        if value.id not in known:
            known[value.id] = _tensor(value, sample, storages, choices)
        return known[value.id]

    return Sample(map_tree(leaf, trees), storages)


def _keywords(args: tuple, kwargs: dict, signature: Overload, dtype: str, choices: Choices) -> dict:
    """Adds or drops an optional argument."""
    if not choices.chance(_KEYWORD):
        return kwargs
    if kwargs and choices.chance(0.4):
        dropped = choices.pick(sorted(kwargs))
        return {name: value for name, value in kwargs.items() if name != dropped}
    optional = [p for p in signature.parameters[len(args):] if p.has_default and "Tensor" not in p.type]
    if not optional:
        return kwargs
    chosen = choices.pick(optional)
    try:
        return {**kwargs, chosen.name: arguments.value(signature, chosen, dtype, choices)}
    except arguments.Impossible:
        return kwargs


def _constant(trees: tuple, choices: Choices):
    """Gives one number or flag another value near by."""
    places = [i for i, leaf in enumerate(leaves(trees)) if type(leaf) in (bool, int, float)]
    if not places or not choices.chance(_CONSTANT):
        return trees
    changed, at = choices.pick(places), iter(range(len(leaves(trees))))
    return map_tree(lambda leaf: _neighbour(leaf, choices) if next(at) == changed else leaf, trees)


def _neighbour(value, choices: Choices):
    if type(value) is bool:
        return not value
    if type(value) is int:
        return value + choices.pick((1, -1, 2, -value, -2))
    return choices.pick((value * 2, value / 2, 0.0, 1.0, -value))


def _tensor(spec: TensorSpec, sample: Sample, storages: list, choices: Choices) -> TensorSpec:
    """`spec` or a variation of it. One that changes leaves the storage that it shared."""
    how = choices.pick(_TENSORS)
    dtype, data = sample.storages[spec.storage]
    if how in ("same", "grad"):
        flip = how == "grad" and spec.dtype in dtypes.EPSILON
        return _placed(replace(spec, requires_grad=spec.requires_grad != flip), storages, dtype, data)
    raw = np.frombuffer(data, dtypes.numpy_dtype(dtype))
    values = seen(raw, spec)
    if how == "values":
        return _rebuilt(spec, _other_values(values, spec.dtype, choices), spec.dtype, storages, None)
    if how == "layout":
        return _rebuilt(spec, values, spec.dtype, storages, choices)
    if how == "dtype":
        other = choices.pick(_DTYPES)
        return _rebuilt(spec, _cast(data, spec, other), other, storages, None)
    return _rebuilt(spec, _other_extent(values, choices), spec.dtype, storages, None)


_DTYPES = ("float64", "float32", "int64", "bfloat16", "bool", "float16", "int32", "uint8", "complex64")


def _placed(spec: TensorSpec, storages: list, dtype: str, data: bytes) -> TensorSpec:
    """`spec` over a storage of the new case: the one that holds the same bytes already, or one more."""
    for at, (known, held) in enumerate(storages):
        if held is data and known == dtype:
            break
    else:
        at = len(storages)
        storages.append((dtype, data))
    return replace(spec, storage=at)


def _rebuilt(spec: TensorSpec, values: np.ndarray, dtype: str, storages: list, choices: Choices | None) -> TensorSpec:
    """A tensor of `values` in a storage of its own, row-major or as `choices` lay it out."""
    size = tuple(values.shape)
    stride, offset, length = (row_major(size), 0, prod(size)) if choices is None else fill.layout(choices, size)
    flat = np.zeros(length, values.dtype)
    grad = spec.requires_grad and dtype in dtypes.EPSILON
    made = TensorSpec(spec.id, dtype, size, stride, offset, len(storages), grad)
    if values.size:
        seen(flat, made)[...] = values
    storages.append((dtype, flat.tobytes()))
    return made


def _other_values(values: np.ndarray, dtype: str, choices: Choices) -> np.ndarray:
    """Floating numbers of another kind; integers and flags are rolled, since they may be indices."""
    if dtype not in dtypes.EPSILON or values.size > fill.LONGEST:
        rolled = np.roll(values, choices.between(1, 3))
        return rolled if dtype != "bool" else (rolled.view(np.uint8) * choices.pick(_TRUE)).view(bool)
    kind = choices.pick(fill.FLOATING)
    data = fill.data(dtype, kind, fill.where(choices), values.size)
    return np.frombuffer(data, dtypes.numpy_dtype(dtype)).reshape(values.shape)


_TRUE = np.array([1, 1, 1, 2, 255], np.uint8)  # bytes that are true, the last two as bytes of another dtype


def _other_extent(values: np.ndarray, choices: Choices) -> np.ndarray:
    """One extent shorter or longer by one, or an axis less."""
    if values.ndim == 0:
        return values.reshape(1)
    axis, how = choices.below(values.ndim), choices.pick(("shorter", "longer", "gone"))
    if how == "longer" and values.shape[axis]:
        return np.concatenate([values, values.take([0], axis)], axis)
    if how == "gone" and values.shape[axis]:
        return values.take(0, axis)
    return values.take(range(max(values.shape[axis] - 1, 0)), axis)


def _cast(data: bytes, spec: TensorSpec, dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        numbers = seen(dtypes.to_array(data, spec.dtype), spec)
        return fill.narrowed(numbers if dtype.startswith("complex") else numbers.real, dtype)
