"""Compares two journals of an object, entry by entry.

The operations inside have been compared on their own, at full precision; what an object adds is how they are put
together. Its numbers may therefore drift by some more roundings than those of one call.
"""

from dataclasses import replace

import numpy as np

from ..cases import dtypes
from ..cases.observed import Entry, Journal
from ..cases.values import Raised, Value
from . import tolerance
from .excuses import settled
from .properties import UNSUPPORTED, Fault, difference, refusals, unsupported
from .reference import PERTURBATIONS, STEPS

DRIFT = 16.0  # epsilons of the largest magnitude of an entry, or of 1, the size of cotangents; also times what rounding does to
# the oracle's own: a sum of 2,048 products in another order is off by ten roundings, which a normalisation then amplifies


def faults(expected: Journal, got: Journal) -> list[Fault]:
    """What is wrong with `got`: the first fault of each property."""
    if got.raised and got.raised.names[0] in UNSUPPORTED:
        return [] if expected.raised else [unsupported(str(got.raised), None)]
    if expected.raised:
        by_numbers = _by_numbers(expected.raised)
        return [replace(fault, phase="accepted") if fault.lenient and by_numbers else fault for fault in refusals(expected, got)]
    found: dict[str, Fault] = {}
    answers = got.by_label()
    for position, e in enumerate(expected.entries):
        if e.label not in answers and (got.raised or got.unmappable):
            break
        fault = _entry(position, e, answers.get(e.label))
        if fault:
            found.setdefault(fault.property, fault)
    if got.raised or got.unmappable:
        asked, phase = got.doing
        found.setdefault(asked, Fault(asked, f"{phase}: raised {got.raised}" if got.raised else got.unmappable,
                                      "raised" if got.raised and _by_numbers(got.raised) else ""))
    return list(found.values())


def differing(expected: Journal, got: Journal) -> list[Fault]:
    """Every entry of both in which two journals differ by more than their numbers may drift."""
    answers = got.by_label()
    return [fault for position, e in enumerate(expected.entries) if e.label in answers and (fault := _entry(position, e, answers[e.label]))]


def _by_numbers(raised: Raised) -> bool:
    """Whether an exception says that a number came out too large, or zero: after many steps that is for rounding to say."""
    return "ArithmeticError" in raised.names or "without overflow" in raised.message


def _entry(position: int, e: Entry, g: Entry | None) -> Fault | None:
    if isinstance(e.value, Raised):
        return None  # the oracle has no such derivative: nothing is asked of the subject
    if g is None or isinstance(g.value, Raised):
        return Fault(e.property, f"{e.label}: expected {e.value}, " + (f"raised {g.value}" if g else "got nothing"))
    fault = difference(e.property, e.label, position, e.value, g.value, e.free)
    if fault and isinstance(e.value, Value) and e.value.dtype == "python str":
        return replace(fault, phase=e.label, position=position)
    return None if fault and fault.phase and e.value.number_dtype in dtypes.EPSILON and _drifted(g.value, e.value) else fault


def _drifted(w: Value, t: Value) -> bool:
    """Whether two floating values differ by no more than an object's numbers may drift apart."""
    a, b = w.array(), t.array()
    with np.errstate(all="ignore"):
        bound = DRIFT * dtypes.EPSILON[t.number_dtype] * max(1.0, tolerance.norm(b))
        return bool((tolerance.same(a, b) | (np.abs(a - b) <= bound)).all())


def excuses_for(fault: Fault, expected: Journal, got: Journal, reruns: list[Journal], poisoned: bool = False) -> frozenset | None:
    """The kinds of excuse that the numbers of `fault` need, none within tolerance; None where they are wrong. `reruns`: the oracle's in double
    precision on the exact inputs, and on inputs moved by an epsilon, as many in its own precision, and, where that is double, along a line.

    `poisoned`: a NaN or an infinity went in. How far NaN spreads backwards differs even between PyTorch's scalar and vector
    loops, and is asked of every operation on its own.
    """
    moved, line = reruns[PERTURBATIONS + 1:2 * PERTURBATIONS + 1], reruns[2 * PERTURBATIONS + 1:]
    if fault.phase in ("accepted", "raised"):  # does rounding bring the oracle to the other answer?
        return frozenset({"no digits"}) if any(bool(run.raised) == (fault.phase == "raised") for run in moved) else None
    e = expected.entries[fault.position]
    if e.value.dtype == "python str":  # what an object holds, as whether a count became a tensor
        texts = [found.value for run in moved if (found := run.by_label().get(e.label))]
        return frozenset({"no digits"}) if any(text != e.value for text in texts) else None
    w, t, epsilon = got.by_label()[e.label].value.array(), e.value.array(), dtypes.EPSILON.get(e.value.number_dtype)
    runs = [_numbers(run, e) for run in reruns]
    if not runs or runs[0] is None:
        return None
    if epsilon is None:  # a count, as of steps until nothing changes any more, that rounding decides in the oracle too
        return settled(w == t, {"no digits": np.logical_or.reduce([run != t for run in runs if run is not None])})
    perturbed, own = ([run for run in part if run is not None] for part in (runs[1:PERTURBATIONS + 1], runs[PERTURBATIONS + 1:2 * PERTURBATIONS + 1]))
    line = [_numbers(run, e) for run in line]
    with np.errstate(all="ignore"):
        unsteady = max(tolerance.norm(other - t) for other in (runs[0], *own))  # what rounding does to the oracle's own answer
        bound = DRIFT * max(epsilon * max(1.0, tolerance.norm(runs[0])), unsteady)
        # Some elements brought the fault here; the others agree with the oracle, however wrong it may be itself.
        accepted = tolerance.close(w, t, epsilon)
        accepted |= tolerance.conditioned(w, t, runs[0], perturbed, epsilon)
        accepted |= np.abs(w - runs[0]) <= bound
        if line and all(run is not None for run in line):
            accepted |= tolerance.noisy(w, t, line[:STEPS], line[STEPS:])
        # Where the oracle has no number, the one that it has for inputs an epsilon away.
        drift = DRIFT * epsilon * max(1.0, tolerance.norm(runs[0]))
        accepted |= ~np.isfinite(t) & np.logical_or.reduce([np.zeros(t.shape, bool), *(np.abs(w - other) <= drift for other in own)])
        spread = (poisoned and e.property == "gradient") & (np.isnan(w) | np.isnan(t))
    infinite = np.zeros(t.shape, bool)
    if np.iscomplexobj(w) and np.iscomplexobj(t):
        infinite = tolerance.infinite_parts(w, t, epsilon) & (poisoned | ~np.isfinite(runs[0]))
    lost = tolerance.unknown(t, own) | (~np.isfinite(w) & tolerance.lost(t, [runs[0], *own])) | _lost_before(expected, fault.position, reruns)
    return settled(accepted, {"poisoned": spread, "complex infinity": infinite, "no digits": lost})


def _lost_before(expected: Journal, position: int, reruns: list[Journal]) -> bool:
    """Whether the same numbers, as those of a parameter, were lost at an earlier step, so that nothing that comes of them is known."""
    name = expected.entries[position].label.split(": ")[-1]
    for e in expected.entries[:position]:
        if e.label.endswith(f": {name}") and isinstance(e.value, Value) and e.value.number_dtype in dtypes.EPSILON:
            own = [run for rerun in reruns[PERTURBATIONS + 1:2 * PERTURBATIONS + 1] if (run := _numbers(rerun, e)) is not None]
            if tolerance.unknown(e.value.array(), own).any():
                return True
    return False


def _numbers(journal: Journal, like: Entry) -> np.ndarray | None:
    found = journal.by_label().get(like.label)
    fits = found is not None and isinstance(found.value, Value) and found.value.shape == like.value.shape
    return found.value.array() if fits else None

