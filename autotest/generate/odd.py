"""Arguments of a call given as no signature tells: truth for a number and a number for truth, NaN and infinities, scalars of NumPy,
tensors of one element, numbers far out of range, another container, a text that names nothing, indices of a narrow dtype, and a
tensor without axes whose number is beyond the other operand's dtype.

Users pass all of these, by accident or on purpose; PyTorch decides which of them are valid.
"""

from dataclasses import replace

import numpy as np

from ..cases.case import Case, TensorSpec, leaves, map_tree, seen, tensors_of
from .choices import Choices

_SHARE = 0.08  # of the calls
_OTHER = 0.25  # of those that have a number: another argument than a number is odd
_INTEGERS = ("truth", "numpy", "tensor", "negative", "float", "far", "tensor of one", "nan")
_FLOATS = ("nan", "numpy", "tensor", "infinity", "negative infinity", "truth", "integer", "differentiable", "single", "far")
_TRUTHS = ("integer", "numpy", "tensor", "two", "none")
_FAR = (2**31, 2**63 - 1, -2**63, 2**63, 2**70)
_LISTS = ("tuple", "array", "tensor")
_TEXTS = ("", "nothing", "Sum")
_NARROW = ("int32", "int16", "int8", "uint8")
_BEYOND = {"int64": (300, -1, 2**31, 2**40, -2**63), "float64": (1e39, -1e39, 65520.0, 1e-46)}


def oddly(case: Case, choices: Choices) -> Case:
    """`case`, and at times the same call with one of its arguments given in another way. Its `out=` stays."""
    if not choices.chance(_SHARE):
        return case
    out = {name: value for name, value in case.kwargs.items() if name == "out"}
    given = (case.args, {name: value for name, value in case.kwargs.items() if name != "out"})
    case = replace(case, storages=list(case.storages))
    lists = _lists(given)
    if lists and choices.chance(0.3):
        chosen = choices.pick(lists)
        made = _container(chosen, choices.pick(_LISTS), case)
        args, kwargs = _swapped(given, chosen, made)
        return replace(case, args=args, kwargs={**kwargs, **out})
    found = leaves(given)
    numbers = [i for i, leaf in enumerate(found) if type(leaf) in (bool, int, float, complex)]
    others = [i for i, leaf in enumerate(found) if type(leaf) is str or i > 0 and isinstance(leaf, TensorSpec) and not leaf.numpy]
    if not numbers and not others:
        return case
    places = others if others and (not numbers or choices.chance(_OTHER)) else numbers
    changed, at = choices.pick(places), iter(range(len(found)))
    args, kwargs = map_tree(lambda leaf: _odd(leaf, choices, case) if next(at) == changed else leaf, given)
    return replace(case, args=args, kwargs={**kwargs, **out})


def _odd(value, choices: Choices, case: Case):
    """Something to pass in the place of a number, a text or a tensor; a tensor's memory joins the storages of `case`."""
    kind = type(value)
    if kind is str:
        return choices.pick((*_TEXTS, value.upper()))
    if kind is TensorSpec:
        return _odd_tensor(value, choices, case)
    if kind is complex:
        return choices.pick((np.complex128(value), complex(float("nan"), 1.0), complex(1.0, float("inf"))))
    how = choices.pick({bool: _TRUTHS, int: _INTEGERS, float: _FLOATS}[kind])
    if how == "far":
        return choices.pick(_FAR) if kind is int else choices.pick((1e39, 1e300, -1e39))
    if "tensor" in how or how == "differentiable":
        return _tensor(value, case, (1,) if how == "tensor of one" else (), how == "differentiable")
    return {"truth": lambda: bool(value), "negative": lambda: -value - 1, "float": lambda: float(value), "integer": lambda: int(value) if abs(value) < 2**53 else 1,
            "two": lambda: 2, "none": lambda: None, "nan": lambda: float("nan"), "infinity": lambda: float("inf"), "negative infinity": lambda: -float("inf"),
            "single": lambda: np.float32(value), "numpy": lambda: {bool: np.bool_, int: np.int64, float: np.float64}[kind](value)}[how]()


def _odd_tensor(spec: TensorSpec, choices: Choices, case: Case) -> TensorSpec:
    """`spec`'s integers in a narrower dtype, as indices often are, or one number that other dtypes do not hold."""
    if spec.dtype == "int64" and spec.size and not choices.chance(0.3):
        held, data = case.storages[spec.storage]
        values = seen(np.frombuffer(data, held), spec)
        return _held(values.astype(choices.pick(_NARROW), order="C"), case)
    kind = choices.pick(tuple(_BEYOND))
    return _held(np.asarray(choices.pick(_BEYOND[kind]), kind), case)


def _tensor(value, case: Case, size: tuple, differentiable: bool = False) -> TensorSpec:
    numbers = np.asarray(value)
    return _held(numbers.reshape(size), case, differentiable)


def _held(numbers: np.ndarray, case: Case, differentiable: bool = False, numpy: bool = False) -> TensorSpec:
    """A tensor, or an array of NumPy, of `numbers`."""
    dtype = str(numbers.dtype)
    case.storages.append((dtype, numbers.tobytes()))
    identity = max((spec.id for spec in tensors_of(case)), default=-1) + 1
    strides = tuple(step // numbers.itemsize for step in numbers.strides)
    return TensorSpec(identity, dtype, numbers.shape, strides, 0, len(case.storages) - 1, differentiable, numpy=numpy)


def _lists(given: tuple) -> list:
    """The lists of integers among the arguments themselves."""
    args, kwargs = given
    return [value for value in (*args, *kwargs.values()) if type(value) in (list, tuple) and value and all(type(item) is int for item in value)]


def _container(numbers, how: str, case: Case):
    if how == "tuple":
        return tuple(numbers) if isinstance(numbers, list) else list(numbers)
    return _held(np.array(numbers, np.int64), case, numpy=how == "array")


def _swapped(given: tuple, old, new) -> tuple:
    args, kwargs = given
    return (tuple(new if value is old else value for value in args), {name: new if value is old else value for name, value in kwargs.items()})
