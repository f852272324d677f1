"""What formulas and algorithms make of infinities and NaN, where another one has numbers: factors of zero that are left out, and orders of factors."""

import re
from dataclasses import replace

import numpy as np
import torch

from ..cases.case import Case, TensorSpec, leaves
from ..cases.dtypes import EPSILON, numpy_dtype, to_array
from ..cases.layout import plain
from ..cases.observed import Observation
from ..cases.protocol import Item
from ..check.properties import Fault
from ..check.reference import poisoned, promoted
from ..check.tolerance import close
from ..workers.trial import Trial


def left_out(kind, item: Item, got: Observation | None) -> list[Fault]:
    """Where a Fourier transform gives a number though an infinity or NaN has a share in it: which factors are left out as zeros is its algorithm's
    choice, so that any result of such a line may be no number. All else must be PyTorch's."""
    case = item.case
    if not isinstance(case, Case) or got is None or got.raised or item.expected.raised or not any(map(_TRANSFORM.search, item.target.paths)) or not poisoned(case):
        return []
    found = []
    for i, (t, w, lines) in enumerate(zip(item.expected.values, got.values, _lines_of_infinities(kind, item))):
        if lines is None or not w or (w.dtype, w.shape) != (t.dtype, t.shape):
            continue
        if _right_but_for(kind, item, got, Fault(case.relation, "", "values", i), lines & ~np.isfinite(w.array()).reshape(t.shape)):
            found.append(Fault("value" if case.relation == "call" else case.relation, "an infinity has a share in numbers", "values", i))
    return found


def _right_but_for(kind, item: Item, got: Observation, at: Fault, free: np.ndarray) -> bool:
    """Whether the subject's numbers at the phase and position of `at` are PyTorch's, but for those that are `free`."""
    held, expected = (getattr(answer, at.phase) for answer in (got, item.expected))
    t, w = (values[at.position] for values in (expected, held))
    stored = [np.frombuffer(value.data, numpy_dtype(value.dtype)).reshape(t.shape) for value in (t, w)]
    mended = replace(got, **{at.phase: [*held[:at.position], replace(w, data=np.where(free, *stored).tobytes()), *held[at.position + 1:]]})
    left = [fault for fault in kind.faults(item, mended) if (fault.phase, fault.position) == (at.phase, at.position)]
    reruns = kind.reruns(torch, item) + kind.reruns(torch, item, more=True) if left else []
    return all(kind.excuses_for(fault, item, mended, reruns) is not None for fault in left)


def heedless(item: Item, kind, got: Observation | None) -> list[Fault]:
    """Gradients that PyTorch's formula has no numbers for, beside a NaN or an infinity that they do not depend on: with any of several numbers in its place
    PyTorch has the one that the subject has. As where a norm of NaN is not above its bound."""
    case = item.case
    if not isinstance(case, Case) or case.relation not in ("call", "autocast") or got is None or got.raised or item.expected.raised or not poisoned(case):
        return []
    if not isinstance(item.expected.gradients, list) or not isinstance(got.gradients, list) or item.expected.determined is not None:
        return []
    others = [_with_numbers(item, number) for number in _IN_PLACE]
    if any(other.raised or not isinstance(other.gradients, list) for other in others):
        return []
    found = []
    for i, (t, w) in enumerate(zip(item.expected.gradients, got.gradients)):
        if t is None or w is None or (t.dtype, t.shape) != (w.dtype, w.shape) or t.number_dtype not in EPSILON:
            continue
        numbers = w.array().reshape(t.shape)
        free = ~np.isfinite(t.array()).reshape(t.shape) & np.isfinite(numbers)
        for other in others:
            value = other.gradients[i]
            free &= close(numbers, value.array().reshape(t.shape), _ROUNDINGS * EPSILON[t.number_dtype]) if value is not None and value.shape == t.shape else False
        at = Fault("gradient" if case.relation == "call" else case.relation, "the number for any in the place of infinities", "gradients", i)
        found += [at] if free.any() and _right_but_for(kind, item, got, at, free) else []
    return found


def _with_numbers(item: Item, number: float) -> Observation:
    """The answer in double precision, with `number` in the place of NaN and infinities."""
    def filled(dtype: str, data: bytes) -> tuple:
        held = to_array(data, dtype)
        return dtype, (np.where(np.isfinite(held), held, number).astype(held.dtype).tobytes() if dtype in ("float64", "complex128") else data)

    wide = replace(promoted(plain(item.case)), relation="call", differentiate=1)
    return Trial(torch, item.target.resolve(torch), replace(wide, storages=[filled(*storage) for storage in wide.storages])).run()


def order_of_factors(kind, item: Item) -> list[Fault]:
    """Whether a product of all elements that holds an infinity is another one in other orders: where the others' product is too small to be told from zero before
    they meet it, it is NaN."""
    case = item.case
    if not isinstance(case, Case) or case.relation == "out" or not any(path.split(".")[-1] == "prod" for path in item.target.paths) or not poisoned(case):
        return []
    if item.expected.raised or any(value is None or value.shape for value in item.expected.values):
        return []
    flat = plain(case)
    dtype, data = flat.storages[0]
    held, numbers = np.frombuffer(data, numpy_dtype(dtype)), np.abs(to_array(data, dtype))
    found = []
    for order in (np.argsort(numbers), np.argsort(-numbers)):
        other = replace(flat, storages=[(dtype, held[order].tobytes()), *flat.storages[1:]], differentiate=0)
        found += [fault for fault in kind.faults(item, replace(item.expected, values=kind.observe(torch, replace(item, case=other)).values)) if fault.phase == "values"]
    return found


def _lines_of_infinities(kind, item: Item) -> list:
    """For each result of a transform, which numbers lie along the transformed axes from one in which something stands that is not finite: None where it has other axes."""
    case = plain(item.case)  # so that no element that is repeated cancels itself
    spec = next(leaf for leaf in leaves(case.args) if isinstance(leaf, TensorSpec))
    marks = [_marks(*storage) for storage in case.storages]
    impulse = [(dtype, bytes(len(data))) for dtype, data in case.storages]
    dtype, data = impulse[spec.storage]
    one = np.ones(1, numpy_dtype(dtype)).tobytes()
    impulse[spec.storage] = dtype, data[:len(one) * spec.offset] + one + data[len(one) * (spec.offset + 1):]
    marked, spread = (kind.observe(torch, replace(item, case=replace(case, storages=storages, differentiate=0))).values for storages in (marks, impulse))
    lines = []
    for mark, along in zip(marked or [], spread or []):
        share, of_first = ((value.array() != 0).reshape(value.shape) for value in (mark, along))
        axes = tuple(a for a, size in enumerate(share.shape) if size > 1 and of_first.any(tuple(b for b in range(share.ndim) if b != a))[1])
        lines.append(np.broadcast_to(share.any(axes, keepdims=True), share.shape) if share.ndim == len(spec.size) else None)
    return lines


def _marks(dtype: str, data: bytes) -> tuple:
    """A storage with numbers, no two of which cancel, in the place of NaN and infinities, and zeros elsewhere."""
    if dtype not in ("float32", "float64", "complex64", "complex128"):
        return dtype, bytes(len(data))
    held = to_array(data, dtype)
    return dtype, np.where(np.isfinite(held), 0, np.sqrt(np.arange(2, 2 + held.size))).astype(held.dtype).tobytes()


_TRANSFORM = re.compile(r"fft\.\w+$")
_IN_PLACE = 0.7, 1.9, -0.6, 3.3  # of NaN and infinities: none that may be special, as 1 is to a reflection
_ROUNDINGS = 8  # times four epsilons: of a formula that divides what it multiplied
