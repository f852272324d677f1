"""Numbers that differ by more than rounding: what do reruns show that the call itself does to rounding?"""

import re

import numpy as np

from ..cases import dtypes
from ..cases.case import seen, tensors_of
from ..cases.observed import Observation
from ..cases.values import Raised, Value
from . import ties, tolerance, truth
from .excuses import settled
from .properties import Fault, by_singularity
from .reference import PERTURBATIONS, STEPS, floating_inputs, is_double, of_halves, poisoned, working_epsilon

#: assert_close's rtol and atol by dtype, for calls that have no double-precision run.
DEFAULT_TOLERANCE = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5),
                     "complex32": (1e-3, 1e-5), "complex64": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7), "complex128": (1e-7, 1e-7)}


def excuses_for(fault: Fault, item, got: Observation, reruns: list[Observation]) -> frozenset | None:
    """The kinds of excuse that the numbers of `fault` need, none where they are within tolerance of the oracle's own; None
    where they are wrong.

    `reruns` are the oracle's runs of the case: in double precision on the exact inputs, the same on inputs moved by an
    epsilon, as many in the case's own precision on moved inputs, and for double precision as many in single, and in double
    along a line.
    """
    if item.decomposes and (poisoned(item.case) or _noise(item.expected, reruns) or _gave_up(reruns)):
        return None if _loses_nan(item, fault, got, reruns) else _MATRIX
    if fault.phase in ("raised", "accepted"):
        only_gradients = not got.raised and isinstance(got.gradients, Raised)  # what a factorisation gave in the forward pass has to be divided by
        return _MATRIX if item.decomposes and only_gradients and _is_singular(item.expected, reruns, fault.phase) else None
    if _flagged(item) and _pick(item.expected, fault).number_dtype in dtypes.EPSILON:
        return _MATRIX
    w, t = _pick(got, fault), _pick(item.expected, fault)
    runs = [_same_shape(_pick(run, fault), t) for run in reruns]
    if t.number_dtype not in dtypes.EPSILON:  # a pivot, a flag, a rounded number: one that the oracle gives too
        shown = [] if any(ties.selecting(path) for path in item.target.paths) else [run for run in runs if run is not None]
        shown = shown[:1 + PERTURBATIONS] if of_halves(item.case) else shown
        accepted = np.logical_or.reduce([w.array() == run for run in (t.array(), *shown)])
        if item.pointwise and shown:
            accepted &= (w.array() == t.array()) | ~np.asarray(t.array() == shown[0])
        return settled(accepted, {"matrix": _of_a_last_bit(item, fault, w.array(), t.array(), shown)} if item.decomposes and not accepted.all() else {})
    epsilon = max(dtypes.EPSILON[t.number_dtype], working_epsilon(item.case))
    if not runs or runs[0] is None:
        return settled(tolerance.default_close(w.array(), t.array(), *DEFAULT_TOLERANCE[t.number_dtype]), {})
    # What factors multiply to carries the rounding of the largest of them.
    factory = not floating_inputs(item.case) or fault.phase == "determined"
    rest = runs[1 + PERTURBATIONS:]
    rest, line = (rest[:-2 * STEPS], rest[-2 * STEPS:]) if is_double(item.case) else (rest, [])
    half = len(rest) // 2 if is_double(item.case) else len(rest)
    perturbed, own, single = ([run for run in part if run is not None]
                              for part in (runs[1:1 + PERTURBATIONS], rest[:half], rest[half:]))
    selecting = any(ties.selecting(path) for path in item.target.paths)
    choosing = any(ties.choosing(path, item.case) for path in item.target.paths)
    if fault.phase != "second" and of_halves(item.case):
        own = [t.array()] * len(own)  # whose first derivatives, and values, are well known in double precision
    moved = own
    line = [] if any(run is None for run in line) else line
    perturbed, own, single, line = ([] if selecting else found for found in (perturbed, own, single, line))
    wide, narrow = t.array(), w.array()
    if np.iscomplexobj(wide) and np.iscomplexobj(narrow):
        poison = tolerance.infinite_parts(narrow, wide, epsilon)
        agreed = _agreed_parts(narrow, wide)
        narrow, wide = _without(agreed, narrow), _without(agreed, wide)
        runs, perturbed, own, single, moved, line = ([_without(agreed, run) for run in part if run is not None]
                                                     for part in (runs[:1], perturbed, own, single, moved, line))
    accepted = tolerance.close(narrow, wide, epsilon)
    accepted |= tolerance.conditioned(narrow, wide, runs[0], perturbed, epsilon, factory, item.pointwise and fault.phase == "values",
                                      t.number_dtype)
    if item.decomposes and perturbed:  # LAPACK's answer is that of a matrix near by, as near as it has rows
        with np.errstate(invalid="ignore"):
            moves = max(tolerance.norm(run - runs[0]) for run in perturbed)
            accepted |= np.abs(narrow - runs[0]) <= tolerance.AMPLIFICATION * _rows(item.case) * moves
    accepted |= tolerance.unsteady(narrow, wide, own)
    if not item.pointwise:
        accepted |= tolerance.as_uncertain(narrow, wide, runs[0], own)
    accepted |= tolerance.as_in_single(narrow, wide, single, item.pointwise)
    accepted |= tolerance.noisy(narrow, wide, line[:STEPS], line[STEPS:], item.pointwise)
    if item.pointwise and fault.phase in ("values", "written", "gradients"):
        accepted &= tolerance.close(narrow, wide, epsilon) | ~tolerance.certain(wide, runs[0], [*perturbed, *own])
    excuses = {"overflow": tolerance.overflown(narrow, runs[0], t.number_dtype),
               "no digits": (~np.isfinite(narrow) & tolerance.lost(wide, [runs[0], *perturbed, *own]))
               | tolerance.crossed(runs[0], perturbed)}
    if not item.pointwise and not poisoned(item.case):  # whether infinities, or an infinity and zero, met on the way
        excuses["overflow"] |= ~np.isfinite(narrow) & ~np.isfinite(wide) & ~np.isfinite(runs[0])
    if poisoned(item.case) and any(_TRANSFORM.search(path) for path in item.target.paths):  # whose terms are complex, and its results may be real
        excuses["complex infinity"] = ~np.isfinite(narrow) & ~np.isfinite(wide)
    if np.iscomplexobj(wide) and not selecting and (_of_several(item) or fault.phase == "gradients"):
        excuses["complex infinity"] = poison & (poisoned(item.case) | ~np.isfinite(runs[0]))  # of an input, or made on the way
        if poisoned(item.case) and any(_CELL.search(path) for path in item.target.paths):  # whose squashing has a number for the one and NaN for the other
            excuses["complex infinity"] |= ~np.isfinite(narrow) | ~np.isfinite(wide)
    if fault.phase == "second":
        # Second derivatives are differences of first ones, and carry their rounding; how much of it shows where inputs move.
        with np.errstate(invalid="ignore"):
            first = reruns[0].gradients if isinstance(reruns[0].gradients, list) else []
            bound = tolerance.ULPS * epsilon * max((tolerance.norm(g.array()) for g in first if g is not None), default=0.0)
            shown = max((tolerance.norm(run - wide) for run in own), default=0.0)
            accepted |= np.abs(narrow - runs[0]) <= max(bound, tolerance.AMPLIFICATION * shown)
        if poisoned(item.case):  # where zero meets it depends on how a formula is written
            excuses["poisoned"] = ~np.isfinite(narrow) | ~np.isfinite(wide)
        else:  # so does what becomes of an infinity that was made on the way
            excuses["poisoned"] = ~np.isfinite(narrow) & ~np.isfinite(wide) & ~np.isfinite(runs[0])
        excuses["equal values"] = np.full(wide.shape, _goes_to_equals(item, got, reruns, choosing))  # whose cotangents are others
    if fault.phase == "gradients":
        # Beside cotangents of the size of one, what is left where the oracle has nothing is known to some roundings of one.
        with np.errstate(invalid="ignore"):
            excuses["overflow"] |= ~np.isfinite(wide) & (np.abs(narrow - runs[0]) <= tolerance.ULPS * epsilon)
        if not poisoned(item.case) and _all_overflow(reruns[0]):  # no number nearby is known, of which it would be the slope
            excuses["overflow"] |= ~np.isfinite(narrow)
        excuses["equal values"] = ties.exchanged(item.case, fault.position, narrow, wide, moved, choosing)
    left = ~np.logical_or.reduce([accepted, *excuses.values()])
    known = truth.better(item, fault, narrow, wide, epsilon, left) if left.any() else None
    if known is not None:
        excuses["oracle inexact"] = known
    kinds = settled(accepted, excuses)
    return _MATRIX if kinds is None and item.decomposes and _is_singular(item.expected, reruns, fault.phase) else kinds


def _goes_to_equals(item, got: Observation, reruns: list[Observation], choosing: bool) -> bool:
    """Whether a first gradient differs from the oracle's, in nothing but which of several equal inputs it went to."""
    pairs = zip(item.expected.gradients, got.gradients) if isinstance(item.expected.gradients, list) and isinstance(got.gradients, list) else ()
    for at, (t, w) in enumerate(pairs):
        if t is None or w is None or (t.dtype, t.shape) != (w.dtype, w.shape) or tolerance.same(w.array(), t.array()).all():
            continue
        moved = [_same_shape(_pick(run, Fault("gradient", "", "gradients", at)), t) for run in reruns[1 + PERTURBATIONS:]]
        if (ties.exchanged(item.case, at, w.array(), t.array(), [run for run in moved if run is not None], choosing) | tolerance.same(w.array(), t.array())).all():
            return True
    return False


def _all_overflow(run: Observation) -> bool:
    """Whether no element of the results of `run` is a number."""
    return bool(run.values) and all(value is not None and value.number_dtype in dtypes.EPSILON and not np.isfinite(value.array()).any() for value in run.values)


def _of_several(item) -> bool:
    """Whether a number of the result comes from more than two: of one number and another there is one answer, of three the order tells. So it does
    of a gradient, which a cotangent is a factor of."""
    return not item.pointwise or len({spec.id for spec in tensors_of(item.case)}) > 2


def _agreed_parts(w: np.ndarray, t: np.ndarray) -> tuple:
    """Where the real and where the imaginary parts are the same infinity, or NaN in both, so that the other part stands alone."""
    return tuple(~np.isfinite(b) & tolerance.same(a, b) for a, b in ((w.real, t.real), (w.imag, t.imag)))


def _without(agreed: tuple, x: np.ndarray) -> np.ndarray:
    """Complex `x` with zeros for the parts that are `agreed`."""
    kept = np.array(x, np.complex128 if x.dtype.itemsize == 16 else np.complex64)
    kept.real[agreed[0]] = 0
    kept.imag[agreed[1]] = 0
    return kept


def within(fault: Fault, item, got: Observation, rtol: float, atol: float) -> bool:
    """Whether the numbers of `fault` differ by no more than a tolerance that somebody answers for."""
    if fault.phase in ("raised", "accepted") or not isinstance(got, Observation):
        return False
    w, t = _pick(got, fault), _pick(item.expected, fault)
    return w is not None and bool(tolerance.default_close(w.array(), t.array(), rtol, atol).all())


_CELL = re.compile(r"(rnn|gru|lstm)\w*$")
_TRANSFORM = re.compile(r"fft|stft")
_MATRIX = frozenset({"matrix"})


def _loses_nan(item, fault: Fault, got: Observation, reruns: list[Observation]) -> bool:
    """Whether a finite number stands where every run of the oracle's has NaN: that only a zero or an infinity on the way can do, by what a
    library skips, or divides by."""
    if fault.phase in ("accepted", "second"):  # how far NaN spreads in a second derivative is no library's choice but a formula's
        return False
    w, t = _pick(got, fault), _pick(item.expected, fault)
    if w is None or t is None or t.number_dtype not in dtypes.EPSILON or not _only_nan(item.case):
        return False
    runs = [_same_shape(_pick(run, fault), t) for run in reruns]
    lost = np.isnan(t.array()) & np.isfinite(w.array())
    return bool(np.logical_and.reduce([lost, *(np.isnan(run) for run in runs if run is not None)]).any())


def _only_nan(case) -> bool:
    """Whether all numbers that are not finite are NaN, of a case without zeros."""
    numbers = [dtypes.to_array(data, dtype) for dtype, data in case.storages if dtype in dtypes.EPSILON]
    return not any((np.isinf(held) | (held == 0)).any() for held in numbers)


def _rows(case) -> int:
    """The rows or columns, whichever are more, of the largest matrix of a call."""
    return max((max(spec.size[-2:]) for spec in floating_inputs(case) if len(spec.size) > 1), default=1)


def _is_singular(expected: Observation, reruns: list[Observation], phase: str) -> bool:
    """Whether the oracle, given numbers, has none to answer with, in double precision neither: it divided by zero. Second derivatives may do so by
    themselves, and say nothing of others."""
    def infinite(run: Observation) -> bool:
        phases = run.values, run.gradients, run.second if phase == "second" else None
        found = [value for values in phases if isinstance(values, list) for value in values]
        return any(value is not None and value.number_dtype in dtypes.EPSILON and not np.isfinite(value.array()).all() for value in found)
    return bool(reruns) and not expected.raised and infinite(expected) and not reruns[0].raised and infinite(reruns[0])


def _gave_up(reruns: list[Observation]) -> bool:
    return any(run.raised and by_singularity(run.raised) for run in reruns)


def _has_flag(item) -> bool:
    return all(path.endswith("_ex") for path in item.target.paths)


def _flagged(item) -> bool:
    """Whether the oracle's own flag, the last result of the functions called `_ex`, says that a matrix could not be factored or
    inverted, so that the other results hold whatever the factorisation had come to."""
    if not _has_flag(item) or item.expected.raised or not item.expected.values:
        return False
    flag = item.expected.values[-1]
    return flag is not None and flag.number_dtype not in dtypes.EPSILON and bool(flag.array().any())


def _of_a_last_bit(item, fault: Fault, w: np.ndarray, t: np.ndarray, runs: list) -> np.ndarray:
    """Where an integer says of a matrix what only rounding decides: by NumPy's singular values its rank is not full, and the last of them are a last bit
    of the first. Then a flag may say so or not; and so may a rank, of which the larger ones count in any case, where the oracle in one of its runs
    took the small ones for numbers too."""
    of_rank, found = any(path.endswith("matrix_rank") for path in item.target.paths), np.zeros(w.shape, bool)
    place = truth.written_part(item.case, fault, w.shape)
    w, t, *runs = (x if place is None else x.reshape(-1)[place] for x in (w, t, *runs))
    matrices = next((seen(dtypes.to_array(item.case.storages[spec.storage][1], spec.dtype), spec) for spec in floating_inputs(item.case) if len(spec.size) > 1), None)
    if matrices is None or 0 in matrices.shape or w.shape != matrices.shape[:-2] or not np.isfinite(matrices).all() or not (of_rank or _has_flag(item)):
        return found
    sizes = np.linalg.svd(matrices.astype(np.complex128), compute_uv=False)
    epsilon = dtypes.EPSILON[floating_inputs(item.case)[0].dtype]
    certain = (sizes > max(matrices.shape[-2:]) * epsilon * sizes[..., :1]).sum(-1)
    free = (0 < certain) & (certain < sizes.shape[-1]) & (w >= 0) & (w <= sizes.shape[-1])
    if of_rank:
        free &= (w >= certain) & (t >= certain) & np.logical_or.reduce([run > certain for run in (t, *runs)])
    if place is None:
        return free
    found.reshape(-1)[place] = free
    return found


def _noise(expected: Observation, reruns: list[Observation]) -> bool:
    """Whether a floating result of the oracle's, or a gradient, is nothing but noise, as where a matrix is singular. Of a result
    that is determined only in part, that part: the sign of a vector is nobody's noise."""
    for phase in ("values" if expected.determined is None else "determined", "gradients", "second"):
        found = getattr(expected, phase)
        for i, value in enumerate(found if isinstance(found, list) else ()):
            if value is None or value.number_dtype not in dtypes.EPSILON:
                continue
            others = [getattr(run, phase) for run in reruns if not run.raised]
            others = [_same_shape(other[i], value) for other in others if isinstance(other, list) and i < len(other)]
            if tolerance.lost(value.array(), [run for run in others if run is not None]).any():
                return True
    return False


def _pick(observation: Observation, fault: Fault) -> Value | None:
    found = getattr(observation, fault.phase)
    if observation.raised or found is None or isinstance(found, Raised):
        return None
    if isinstance(found, dict):
        return found.get(fault.position)
    return found[fault.position] if fault.position < len(found) else None


def _same_shape(value: Value | None, like: Value) -> np.ndarray | None:
    if value is None or value.shape != like.shape or value.dtype == "python str":
        return None
    return value.array()
