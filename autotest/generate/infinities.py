"""Fourier transforms of infinities and NaN, of which algorithms leave out other factors of zero."""

import re
from dataclasses import replace

import numpy as np
import torch

from ..cases.case import Case, TensorSpec, leaves
from ..cases.dtypes import numpy_dtype, to_array
from ..cases.layout import plain
from ..cases.observed import Observation
from ..cases.protocol import Item
from ..check.properties import Fault
from ..check.reference import poisoned


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
        mended = np.where(lines & ~np.isfinite(w.array()).reshape(t.shape), t.array().reshape(t.shape), w.array().reshape(t.shape))
        mended = replace(got, values=[*got.values[:i], replace(w, data=mended.tobytes()), *got.values[i + 1:]])
        left = [fault for fault in kind.faults(item, mended) if (fault.phase, fault.position) == ("values", i)]
        reruns = kind.reruns(torch, item) + kind.reruns(torch, item, more=True) if left else []
        if all(kind.excuses_for(fault, item, mended, reruns) is not None for fault in left):
            found.append(Fault("value" if case.relation == "call" else case.relation, "an infinity has a share in numbers", "values", i))
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
