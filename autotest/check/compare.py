"""Compares what the subject answered with what the oracle answered."""

import numpy as np

from ..cases import dtypes
from ..cases.protocol import ErrorSample, Sample
from ..cases.values import Outcome, Value
from . import tolerance


def forward(sample: Sample, got: Outcome, referee) -> str | None:
    """What is wrong with the subject's forward outcome; None if nothing is."""
    expected = sample.forward
    wrong = _faults(got) or _structure(expected, got)
    if wrong is None and expected.processed is not None:
        free = [_check(i, e, g, None) for i, (e, g) in enumerate(zip(expected.values, got.values))]
        wrong = next((w for w in free if w), None) or _arity(expected.processed, got.processed or [])
    if wrong:
        return wrong
    pick = (lambda outcome: outcome.values) if expected.processed is None else (lambda outcome: outcome.processed)
    return _values(pick(expected), pick(got), None if sample.random else referee, "forward")


def backward(sample: Sample, got: Outcome, referee) -> str | None:
    """What is wrong with the subject's gradients; None if nothing is."""
    expected = sample.backward
    return (_faults(got) or _arity(expected.values, got.values)
            or _values(expected.values, got.values, None if sample.random else referee, "backward"))


def error(sample: ErrorSample, got: Outcome) -> str | None:
    """What is wrong with the subject's reaction to an invalid call; None if nothing is."""
    if got.raised is None:
        return f"accepted, but torch raises {sample.oracle_error}"
    if got.raised.names[0] in sample.accepted:
        return None
    return f"raised {got.raised}, but torch raises {sample.oracle_error}"


def _faults(got: Outcome) -> str | None:
    if got.raised:
        return f"raised {got.raised}" if got.raised.names else got.raised.message
    return f"returned a {got.unmappable}" if got.unmappable else None


def _structure(expected: Outcome, got: Outcome) -> str | None:
    if expected.structure != got.structure:
        return f"structure: expected {expected.structure}, got {got.structure}"
    return None


def _arity(expected: list, got: list) -> str | None:
    return None if len(expected) == len(got) else f"arity: expected {len(expected)} values, got {len(got)}"


def _values(expected: list, got: list, referee, phase: str) -> str | None:
    for position, (e, g) in enumerate(zip(expected, got)):
        judge = referee and (lambda w, t, eps: referee.accepts(phase, position, w, t, eps))
        wrong = _check(position, e, g, judge)
        if wrong:
            return wrong
    return None


def _check(position: int, expected: Value | None, got: Value | None, judge) -> str | None:
    """Compares one value; without `judge` only its dtype and shape count."""
    if expected is None or got is None:
        return None if expected is got else f"value {position}: expected {expected}, got {got}"
    if expected.dtype != got.dtype:
        return f"value {position}: dtype: expected {expected.dtype}, got {got.dtype}"
    if expected.shape != got.shape:
        return f"value {position}: shape: expected {list(expected.shape)}, got {list(got.shape)}"
    if judge is None or expected.data == got.data:
        return None
    if expected.dtype == "python str":
        return f"value {position}: expected {expected.data.decode()!r}, got {got.data.decode()!r}"
    return _numbers(position, expected, got, judge)


def _numbers(position: int, expected: Value, got: Value, judge) -> str | None:
    t, w = expected.array(), got.array()
    epsilon = dtypes.EPSILON.get(expected.number_dtype, 0.0)
    accepted = tolerance.close(w, t, epsilon)
    if not accepted.all() and w.dtype.kind in "fc":
        accepted = accepted | judge(w, t, epsilon)
    if accepted.all():
        return None
    return f"value {position}: {describe(w, t, ~accepted)}"


def describe(w: np.ndarray, t: np.ndarray, wrong: np.ndarray) -> str:
    """How many elements differ, and the worst of them."""
    with np.errstate(all="ignore"):
        wide = np.complex128 if w.dtype.kind == "c" else np.float64
        gap = np.abs(w.astype(wide) - t.astype(wide))
    gap = np.where(wrong, np.where(np.isfinite(gap), gap, np.inf), -1.0)
    at = np.unravel_index(int(np.argmax(gap)), gap.shape)
    place = f" at {[int(i) for i in at]}" if at else ""
    return f"{int(wrong.sum())} of {wrong.size} elements differ, worst{place}: expected {t[at]}, got {w[at]}"
