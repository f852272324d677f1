"""The same case in double precision, for judging how far two single-precision results may differ."""

from dataclasses import replace
from functools import partial

import numpy as np

from ..cases import dtypes
from ..cases.case import Case, Named, TensorSpec, leaves, map_tree
from ..cases.objects import mapped
from ..cases.program import Program
from . import tolerance

PERTURBATIONS = 4  # reruns on moved inputs, in each precision
DOUBLES = 12  # reruns of a double-precision call in its own precision and in single: nothing wider tells what rounding does
STEPS = 15  # reruns of it on either side, evenly spaced along a line
_STEP = 2.0**-12  # as a part of each number: that 1 - tanh(x)^2 is rounded otherwise at each, where it has half its digits, and no farther off
_PYTHONS = {"float": "float64", "complex": "complex128", "int": "int64"}
_HALVES = ("bfloat16", "float16")
_PARTS = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
_NARROW = {"float64": "float32", "complex128": "complex64"}


def promoted(case: Case, rng: np.random.Generator | None = None, shown: float = np.inf) -> Case:
    """`case` with floating tensors and dtype arguments widened to float64 or complex128.

    With `rng`, every floating number, and every cotangent, is also moved by up to one epsilon of its original dtype, of the one that the call asks to
    work in, or of the results, `shown`, where these have more digits: then the numbers are given exactly. Whole numbers that the dtype
    asked for cannot hold are moved, towards zero, as it rounds them.
    """
    floor = working_epsilon(case) or (shown if rounds_to_default(case, shown) else 0.0)
    own = max((dtypes.EPSILON[spec.dtype] for spec in floating_inputs(case)), default=0.0)
    return replace(
        case, args=map_tree(_promote_leaf, case.args), kwargs=map_tree(_promote_leaf, case.kwargs),
        storages=_promote_storages(case.storages, rng, lambda dtype: floor or min(shown, dtypes.EPSILON[dtype]), _asked_epsilon(case)),
        sway=rng and _sway(rng, floor or min(shown, own)))


def _sway(rng: np.random.Generator, epsilon: float) -> tuple:
    """Cotangents are inputs too: of a linear operation nothing else shows what rounding does to its gradient."""
    return int(rng.spawn(1)[0].integers(1 << 31)), epsilon  # so that inputs move as they would without


def shown_epsilon(case: Case, values: list) -> float:
    """The epsilon of the coarsest of the floating results `values`; infinite where there is none, and of an `out=`, whose dtype is the
    caller's choice."""
    found = [dtypes.EPSILON[value.number_dtype] for value in values if value is not None and value.number_dtype in dtypes.EPSILON]
    return max(found) if found and case.relation != "out" else np.inf


def rounds_to_default(case: Case, shown: float) -> bool:
    """Whether a call that names no dtype gives fewer digits, `shown`, than its tensors have: it rounds them to the default dtype, as `logspace` does its ends."""
    inputs = floating_inputs(case)
    return bool(inputs) and case.relation == "call" and not _asked_dtypes(case) and max(dtypes.EPSILON[spec.dtype] for spec in inputs) < shown < np.inf


def is_double(case: Case) -> bool:
    """Whether the call's floating inputs all have double precision, or it asks to work in it, so that none is left to check it by."""
    return bool(_asked_dtypes(case) & set(_NARROW)) or {spec.dtype for spec in floating_inputs(case)} in ({"float64"}, {"complex128"})


def holds_doubles(case) -> bool:
    """Whether the floating numbers of a case about an object are all in double precision."""
    found = {dtype for dtype, _ in case.storages if dtype in dtypes.EPSILON}
    return bool(found) and found <= set(_NARROW)


def demoted(case: Case) -> Case:
    """`case` in single precision: its errors, in epsilons, are about those of double precision, in epsilons."""
    leaf = partial(_in_other_dtypes, _NARROW)

    def storage(dtype: str, data: bytes) -> tuple:
        narrow = _NARROW.get(dtype, dtype)
        with np.errstate(over="ignore"):
            return narrow, np.frombuffer(data, dtype).astype(narrow).tobytes() if narrow != dtype else data

    return replace(case, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs),
                   storages=[storage(dtype, data) for dtype, data in case.storages])


def along_a_line(case: Case, rng: np.random.Generator) -> list[Case]:
    """`case` in double precision at points evenly spaced along a line through its numbers: `STEPS` to one side, as many to the other."""
    still = labels(case.storages)
    ways = [rng.choice((-1, 1), n := len(data) // 8) * rng.uniform(0.5, 1, n) if dtype in _NARROW and at not in still else None
            for at, (dtype, data) in enumerate(case.storages)]

    def storage(stored: tuple, way: np.ndarray | None, k: int) -> tuple:
        dtype, data = stored
        with np.errstate(all="ignore"):
            return stored if way is None else (dtype, (np.frombuffer(data) * (1 + k * _STEP * way)).tobytes())

    return [replace(case, storages=[storage(stored, way, side * k) for stored, way in zip(case.storages, ways)])
            for side in (1, -1) for k in range(1, STEPS + 1)]


def in_single(case: Case) -> Case:
    """`case` with half precision widened to float32."""
    leaf = partial(_in_other_dtypes, dict.fromkeys(_HALVES, "float32"))
    storages = [("float32", dtypes.to_array(data, dtype).astype(np.float32).tobytes()) if dtype in _HALVES else (dtype, data) for dtype, data in case.storages]
    return replace(case, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs), storages=storages)


def in_floats(case: Case) -> Case | None:
    """`case` with floating numbers in the place of its whole ones, which else nothing could move; None where it has floating ones, but for single numbers."""
    if any(spec.size for spec in floating_inputs(case)):
        return None
    whole = [dtype for dtype, _ in case.storages if dtype != "bool" and dtypes.is_whole(dtype)]
    names = dict.fromkeys(whole, "float32")
    storages = [("float32", np.frombuffer(data, dtype).astype(np.float32).tobytes()) if dtype in names else (dtype, data) for dtype, data in case.storages]

    def leaf(value):  # the dtypes that a call names stay
        return replace(value, dtype=names.get(value.dtype, value.dtype)) if isinstance(value, TensorSpec) else value

    return replace(case, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs), storages=storages) if whole else None


def nudged(case, rng: np.random.Generator):
    """`case`, of a call or an object, as it is, its numbers of single and double precision, the cotangents of such, and a call's Python ones moved by up to one
    epsilon, the parts of complex ones each by its own, which else would keep their direction: what comes out differs by what the oracle's own way of computing makes of rounding."""
    def moved(values, epsilon: float, dtype: str = ""):
        return _moved(values, rng.choice((-1, 0, 1) if np.shape(values) else (-1, 1), np.shape(values)), epsilon, dtype)

    still = labels(case.storages)

    def storage(at: int, dtype: str, data: bytes) -> tuple:
        if dtype in _HALVES and at not in still and of_halves(case):
            return dtype, _halves(moved(dtypes.to_array(data, dtype), dtypes.EPSILON[dtype], dtype), dtype)
        if dtype not in _PARTS or at in still:
            return dtype, data
        return dtype, moved(np.frombuffer(data, _PARTS[dtype]), dtypes.EPSILON[dtype], dtype).astype(_PARTS[dtype]).tobytes()

    made = replace(case, storages=[storage(at, *stored) for at, stored in enumerate(case.storages)])
    if not isinstance(case, Case):
        return made
    epsilon = max((dtypes.EPSILON[spec.dtype] for spec in floating_inputs(case)), default=dtypes.EPSILON["float32"])

    def leaf(value):
        return float(moved(value, epsilon)) if type(value) is float else value

    whole = all(spec.dtype in _PARTS for spec in floating_inputs(case))  # halves are left alone
    return replace(made, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs), sway=_sway(rng, epsilon) if whole else None)


def of_halves(case) -> bool:
    """Whether all floating inputs of a call are of half precision."""
    found = floating_inputs(case) if isinstance(case, Case) else ()
    return bool(found) and all(spec.dtype in _HALVES for spec in found)


def _halves(values: np.ndarray, dtype: str) -> bytes:
    """The bytes of `values` in half precision, rounded to the nearest."""
    if dtype == "float16":
        return values.astype(np.float16).tobytes()
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16).tobytes()


def poisoned(case) -> bool:
    """Whether a tensor of `case` holds a NaN or an infinity."""
    return any(dtype in dtypes.EPSILON and not np.isfinite(dtypes.to_array(data, dtype)).all() for dtype, data in case.storages)


def promoted_program(program: Program, rng: np.random.Generator | None = None) -> Program:
    """As `promoted`, for all steps."""
    steps = [replace(step, args=map_tree(_promote_leaf, step.args), kwargs=map_tree(_promote_leaf, step.kwargs))
             for step in program.steps]
    return Program(_promote_storages(program.storages, rng), steps)


def promoted_object(case, rng: np.random.Generator | None = None):
    """As `promoted`, for a case about an object."""
    return mapped(_promote_leaf, case, _promote_storages(case.storages, rng))


def working_epsilon(case: Case) -> float:
    """The epsilon of the coarsest dtype that the call itself asks to compute in; 0 if it asks for none.

    An `out=` wider than the inputs takes numbers that were computed in the inputs' dtype, or, where they are
    integers, in PyTorch's default one. So may an array of NumPy's be.
    """
    if case.relation == "autocast" and case.casts:
        return dtypes.EPSILON["bfloat16"]
    if case.relation == "out":
        return max((dtypes.EPSILON[spec.dtype] for spec in floating_inputs(case)), default=dtypes.EPSILON["float32"])
    asked = [_asked_epsilon(case)]
    if any(spec.numpy for spec in floating_inputs(case)):  # which NumPy meets with what a tensor gave in its own dtype
        asked += [dtypes.EPSILON[spec.dtype] for spec in floating_inputs(case) if not spec.numpy]
    return max(asked, default=0.0)


def _asked_epsilon(case: Case) -> float:
    return max((dtypes.EPSILON.get(name, 0.0) for name in _asked_dtypes(case)), default=0.0)


def _asked_dtypes(case: Case) -> set:
    """The dtypes that the call names, Python's own (`float`) by what they stand for."""
    named = [leaf for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, Named)]
    return {_PYTHONS.get(leaf.name, leaf.name) for leaf in named if leaf.kind in ("dtype", "type")}


def floating_inputs(case: Case) -> list[TensorSpec]:
    """The floating tensors that the call reads: not those that `out=` gives."""
    inputs = (case.args, {name: value for name, value in case.kwargs.items() if name != "out"})
    return [leaf for leaf in leaves(inputs) if isinstance(leaf, TensorSpec) and leaf.dtype in dtypes.EPSILON]


def _in_other_dtypes(names: dict, leaf):
    """A leaf with the dtypes that are in `names` replaced."""
    if isinstance(leaf, TensorSpec):
        return replace(leaf, dtype=names.get(leaf.dtype, leaf.dtype))
    if isinstance(leaf, Named) and leaf.kind in ("dtype", "type"):
        wanted = names.get(_PYTHONS.get(leaf.name, leaf.name))
        return Named("dtype", wanted) if wanted else leaf
    return leaf


_promote_leaf = partial(_in_other_dtypes, dtypes.REFERENCE)


def _promote_storages(storages: list, rng, epsilon=dtypes.EPSILON.__getitem__, of_whole: float = 0.0) -> list:
    """Storages widened and, with `rng`, moved by up to `epsilon` of their dtype, but for labels; whole numbers by up to `of_whole`."""
    still = labels(storages)

    def promoted_numbers(at: int, dtype: str, data: bytes) -> tuple:
        if dtype == "int64" and rng is not None and of_whole:
            values = np.frombuffer(data, dtype)
            return dtype, (values - (values.astype(float) * of_whole * rng.uniform(0, 1, values.shape)).astype(dtype)).tobytes()
        if dtype not in dtypes.REFERENCE:
            return dtype, data
        wide = dtypes.REFERENCE[dtype]
        values = dtypes.to_array(data, dtype).astype(wide)
        if rng is not None:
            parts = values.view(np.float64)
            drawn = rng.uniform(-1, 1, parts.shape)  # drawn for labels too, so that the others move as they would
            values = values if at in still else _moved(parts, drawn, epsilon(dtype), dtype).view(wide)
        return wide, values.astype(wide).tobytes()

    return [promoted_numbers(at, dtype, data) for at, (dtype, data) in enumerate(storages)]


def _moved(values: np.ndarray, by, epsilon: float, dtype: str) -> np.ndarray:
    """`values` moved by `by` epsilons of their size; denormal numbers, which know no finer digits, by as many of the steps that `dtype` has there,
    unless they are given exactly (a smaller epsilon than the dtype's) or a step is all they are, which would take them to zero."""
    step = tolerance.SMALLEST.get(dtype, 0.0) if epsilon >= dtypes.EPSILON.get(dtype, np.inf) else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        denormal = (np.abs(values) * epsilon < step) & (np.abs(values) > step)
        return values * (1 + epsilon * by) + np.where(denormal, step, 0.0) * by


def labels(storages: list) -> set:
    """Which floating storages hold nothing but -1, 0 and 1, if others hold more. They are taken for labels, and not moved: what asks whether one is 1
    has no answer near 1, so that any would do."""
    floating = {at: dtypes.to_array(data, dtype) for at, (dtype, data) in enumerate(storages) if dtype in dtypes.EPSILON}
    found = {at for at, values in floating.items() if np.isin(values, (-1, 0, 1)).all()}
    return found if len(found) < len(floating) else set()
