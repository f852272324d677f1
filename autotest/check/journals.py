"""Compares two journals of an object, entry by entry.

The operations inside have been compared on their own, at full precision; what an object adds is how they are put
together. Its numbers may therefore drift by some more roundings than those of one call.
"""

import numpy as np

from ..cases import dtypes
from ..cases.values import Raised, Value
from ..workers.journal import Entry, Journal
from . import tolerance
from .properties import UNSUPPORTED, Fault, difference, refusals, unsupported

DRIFT = 64.0  # epsilons of the largest magnitude among entries of one property, or of 1, the size of cotangents


def faults(expected: Journal, got: Journal) -> list[Fault]:
    """What is wrong with `got`: the first fault of each property."""
    if got.raised and got.raised.names[0] in UNSUPPORTED:
        return [] if expected.raised else [unsupported(str(got.raised), None)]
    if expected.raised:
        return refusals(expected, got)
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
        found.setdefault(asked, Fault(asked, f"{phase}: raised {got.raised}" if got.raised else got.unmappable))
    return list(found.values())


def _entry(position: int, e: Entry, g: Entry | None) -> Fault | None:
    if isinstance(e.value, Raised):
        return None  # the oracle has no such derivative: nothing is asked of the subject
    if g is None or isinstance(g.value, Raised):
        return Fault(e.property, f"{e.label}: expected {e.value}, " + (f"raised {g.value}" if g else "got nothing"))
    return difference(e.property, e.label, position, e.value, g.value, e.free)


def granted(fault: Fault, expected: Journal, got: Journal, reruns: list[Journal]) -> bool:
    """Whether the numbers of `fault` are as right as the oracle's own; `reruns` as for a call."""
    e = expected.entries[fault.position]
    w, t, epsilon = got.by_label()[e.label].value.array(), e.value.array(), dtypes.EPSILON[e.value.number_dtype]
    runs = [_numbers(run, e) for run in reruns]
    if not runs or runs[0] is None:
        return False
    bound = DRIFT * epsilon * _scale(reruns[0], e.property)
    with np.errstate(all="ignore"):
        # Some elements brought the fault here; the others agree with the oracle, however wrong it may be itself.
        accepted = tolerance.close(w, t, epsilon)
        accepted |= tolerance.conditioned(w, t, runs[0], [r for r in runs[1:] if r is not None], epsilon)
        accepted |= np.abs(w - runs[0]) <= bound
    return bool(accepted.all())


def _numbers(journal: Journal, like: Entry) -> np.ndarray | None:
    found = journal.by_label().get(like.label)
    fits = found is not None and isinstance(found.value, Value) and found.value.shape == like.value.shape
    return found.value.array() if fits else None


def _scale(journal: Journal, property: str) -> float:
    """The largest finite magnitude among entries of one property, at least 1."""
    values = [entry.value for entry in journal.entries if entry.property == property and isinstance(entry.value, Value)]
    arrays = [np.abs(value.array()) for value in values if value.number_dtype in dtypes.EPSILON]
    return max([1.0, *(float(np.max(a, where=np.isfinite(a), initial=0.0)) for a in arrays)])
