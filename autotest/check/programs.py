"""Compares two runs of a program.

Every step has been compared on its own already, with the oracle's inputs; what is left to find from end to end is gross:
memory that is shared or not, versions, what in-place writes reach, where gradients flow. Numbers may drift by some roundings
of the largest of a tensor, and by what rounding does to the oracle's own.
"""

import numpy as np

from ..cases import dtypes
from ..cases.observed import Progress
from ..cases.program import Program
from ..cases.values import SLIP, Raised, Value
from .properties import UNSUPPORTED, Fault, accepted, unsupported

DRIFT = 64.0  # epsilons of the largest magnitude of a tensor: a few steps of a few roundings each
REPEATS = 16.0  # times the oracle's own change between precisions and perturbed inputs


def faults(program: Program, expected: Progress, got: Progress) -> list[Fault]:
    """What is wrong with `got`: the first step that differs, else what differs at the end."""
    for at, (e, g) in enumerate(zip(expected.steps, got.steps)):
        label = f"step {at} {program.steps[at].target.label}"
        found = _step(label, e, g)
        if found:
            return found
    if got.raised and got.raised.names[0] in UNSUPPORTED:
        return [unsupported(f"step {len(got.steps)}: {got.raised}", program)]
    if got.raised or len(got.steps) != len(expected.steps):
        return [Fault("value", f"step {len(got.steps)}: raised {got.raised}")]
    return _end(expected, got)


def _step(label: str, e, g) -> list[Fault]:
    if len(e.values) != len(g.values):
        return [Fault("value", f"{label}: expected {len(e.values)} tensors, got {len(g.values)}")]
    for name, what in (("requires_grad", "requires_grad"), ("alias", "aliases")):
        if getattr(e, what) != getattr(g, what):
            return [Fault(name, f"{label}: {what}: expected {getattr(e, what)}, got {getattr(g, what)}")]
    for i, (a, b) in enumerate(zip(e.values, g.values)):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return [Fault("dtype" if a.dtype != b.dtype else "shape", f"{label}: expected {a}, got {b}")]
    return []


def _end(expected: Progress, got: Progress) -> list[Fault]:
    if expected.versions != got.versions and None not in got.versions:
        return [Fault("version", f"versions at the end: expected {expected.versions}, got {got.versions}")]
    e, g = expected.gradients, got.gradients
    if isinstance(g, Raised) and not isinstance(e, Raised):
        return [Fault("gradient", f"raised {g}")]
    if isinstance(e, Raised) and not isinstance(g, Raised) and (SLIP in e.names or _of_several_steps(e)):
        return [accepted("backward accepted", e)]
    found = _numbers("value", "final", expected.final, got.final)
    if not found and isinstance(e, list) and isinstance(g, list):
        found = _numbers("gradient", "gradients", e, g)
    return found


def _of_several_steps(raised: Raised) -> bool:
    """Whether a refusal of the gradients is one that only steps together bring about: what one of them saved, another wrote to. Nothing else is asked
    of the subject, as of single calls: that a step has no derivative, or a formula that does not take its own call."""
    return "modified by an inplace operation" in raised.message


def _numbers(name: str, phase: str, expected: list, got: list) -> list[Fault]:
    for i, (e, g) in enumerate(zip(expected, got)):
        if (e is None) != (g is None):
            return [Fault(name, f"{phase} {i}: expected {e}, got {g}")]
        if e is None or e.data == g.data:
            continue
        t, w = e.array(), g.array()
        if not _drifted(w, t, _allowed(e)) or _renamed(w, t):
            continue
        return [Fault(name, f"{phase} {i}: {e} differs by up to {_gap(w, t):.3g} of {_scale(t):.3g}", phase, i)]
    return []


def _allowed(value: Value) -> float:
    return DRIFT * dtypes.EPSILON.get(value.number_dtype, 0.0) * _scale(value.array())


def excuses_for(fault: Fault, expected: Progress, got: Progress, reruns: list[Progress]) -> frozenset | None:
    """The kinds of excuse that the numbers need, none where the oracle's own reruns (double precision, perturbed inputs) wander as
    far as the subject did; None where they are wrong."""
    value = getattr(expected, fault.phase)[fault.position]
    t, w = (getattr(run, fault.phase)[fault.position].array() for run in (expected, got))
    shape, known = t.shape, np.ones(t.shape, bool)
    if fault.phase == "gradients" and any(value is not None and np.isnan(value.array()).any() for value in expected.final):
        known = ~(np.isnan(t) | np.isnan(w))
    spread = not known.all()
    met = _infinities(t) & _infinities(w)  # the order of terms made one infinity and the other NaN: which, the steps were asked
    met |= _beyond_single(w, t, fault, reruns, dtypes.EPSILON.get(value.number_dtype, 0.0))
    known &= ~met
    t, w = t[known], w[known]
    moves = []
    for rerun in reruns:
        values = getattr(rerun, fault.phase)
        if rerun.raised or not isinstance(values, list) or fault.position >= len(values) or values[fault.position] is None:
            return frozenset({"no digits"})  # the oracle itself does not survive the move
        r = values[fault.position].array()
        if r.shape != shape:
            return frozenset({"no digits"})
        moves.append(_gap(r[known], t))
    if _drifted(w, t, _allowed(value) + REPEATS * max(moves, default=0.0)):
        return None
    return frozenset((["poisoned"] if spread else []) + (["overflow"] if met.any() else []))


def _beyond_single(w: np.ndarray, t: np.ndarray, fault: Fault, reruns: list[Progress], epsilon: float) -> np.ndarray:
    """Where the oracle has no number, and in double precision, in which nothing overflows on the way, that of the subject."""
    exact = getattr(reruns[0], fault.phase) if reruns and not reruns[0].raised else None
    r = exact[fault.position] if isinstance(exact, list) and fault.position < len(exact) else None
    if r is None or r.array().shape != t.shape:
        return np.zeros(t.shape, bool)
    with np.errstate(all="ignore"):
        r = r.array().astype(complex)
        near = np.abs(w.astype(complex) - r) <= DRIFT * epsilon * np.maximum(np.abs(r), _scale(t))
    return _infinities(t) & ~_infinities(w) & ~_infinities(r) & near


def _infinities(x: np.ndarray) -> np.ndarray:
    """Where `x` is NaN or infinite."""
    return ~np.isfinite(x.astype(complex))


def _renamed(w: np.ndarray, t: np.ndarray) -> bool:
    """Whether integers are the same in another order, as indices of equal values are: which they name, a step was asked."""
    return t.dtype.kind == "i" and np.array_equal(np.sort(w, axis=None), np.sort(t, axis=None))


def _drifted(w: np.ndarray, t: np.ndarray, bound: float) -> bool:
    finite = np.isfinite(w.astype(complex)) & np.isfinite(t.astype(complex))
    with np.errstate(all="ignore"):
        apart = np.abs(w.astype(complex) - t.astype(complex)) > bound
    same_kind = np.isnan(w.astype(complex)) == np.isnan(t.astype(complex))
    return bool(np.any(finite & apart) or np.any(~finite & ~same_kind))


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        gap = np.abs(a.astype(complex) - b.astype(complex))
    return float(np.max(gap, where=np.isfinite(gap), initial=0.0))


def _scale(t: np.ndarray) -> float:
    magnitude = np.abs(t.astype(complex))
    return max(float(np.max(magnitude, where=np.isfinite(magnitude), initial=0.0)), 1e-6)


