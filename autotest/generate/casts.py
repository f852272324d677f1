"""Which integers of a result come from casts of numbers that the integer type cannot hold.

C++ leaves such a cast undefined, and PyTorch's answer is that of one CPU's instruction. Whether an operation casts at all
is found by asking it: an index or a count stays the same when all numbers are doubled, a number that was cast does not.
"""

from dataclasses import replace

import numpy as np
import torch

from ..cases import dtypes
from ..cases.case import Case, Named, TensorSpec, leaves
from ..cases.observed import Observation
from ..workers.seeding import seed
from ..workers.trial import Trial

_RANGE = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-2**15, 2**15 - 1), "int32": (-2**31, 2**31 - 1),
          "int64": (-2**63, 2**63 - 1)}
_STAND_INS = (3.0, 90.0)  # within every integer type, and apart by more than one


def undefined(case: Case, function, expected: Observation) -> dict:
    """The elements of `expected`, as masks by phase and position, whose numbers were cast to a type that cannot hold them."""
    integers = {where: value for where, value in _numbers(expected).items() if value.dtype in _RANGE}
    if not integers or expected.raised:
        return {}
    low, high = (_RANGE[_narrowest(case, integers)][i] for i in (0, 1))
    strange = [_strange(dtype, data, low, high) for dtype, data in case.storages]
    if not any(mask is not None and mask.any() for mask in strange):
        return _of_constants(case, integers, low, high)
    runs = [_numbers(_run(function, _with(case, strange, stand_in))) for stand_in in _STAND_INS]
    twice = _numbers(_run(function, _with(case, strange, _STAND_INS[1], scale=2.0)))
    masks = {}
    for where, value in integers.items():
        a, b, c = (run.get(where) for run in (*runs, twice))
        same_shape = all(v is not None and v.shape == value.shape and v.dtype == value.dtype for v in (a, b, c))
        if same_shape and np.array_equal(b.array(), c.array()):
            continue
        masks[where] = a.array() != b.array() if same_shape else np.ones(value.shape, bool)
    return masks


def _numbers(seen: Observation) -> dict:
    found = {("values", i): value for i, value in enumerate(seen.values)} | {("written", k): v for k, v in seen.written.items()}
    return {where: value for where, value in found.items() if value is not None}


def _narrowest(case: Case, integers: dict) -> str:
    """The narrowest integer type that takes part: of a result, an argument or one that is asked for."""
    found = leaves((case.args, case.kwargs))
    names = {value.dtype for value in integers.values()}
    names |= {leaf.name for leaf in found if isinstance(leaf, Named) and leaf.kind == "dtype"}
    names |= {leaf.dtype for leaf in found if isinstance(leaf, TensorSpec)}
    return next(name for name in _RANGE if name in names)


def _of_constants(case: Case, integers: dict, low: int, high: int) -> dict:
    """A number among the arguments that the type cannot hold leaves no element certain."""
    constants = [leaf for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, (int, float)) and not isinstance(leaf, bool)]
    if all(low <= constant <= high for constant in constants):
        return {}
    return {where: np.ones(value.shape, bool) for where, value in integers.items() if value.dtype != "int64"}


def _strange(dtype: str, data: bytes, low: int, high: int) -> np.ndarray | None:
    if dtype not in dtypes.EPSILON:
        return None
    values = np.asarray(dtypes.to_array(data, dtype)).real.astype(np.float64)
    return ~(np.isfinite(values) & (values > low - 1) & (values < high + 1))


def _with(case: Case, strange: list, stand_in: float, scale: float = 1.0) -> Case:
    """The case with other numbers in place of the strange ones, and all of them scaled."""
    storages = []
    for (dtype, data), mask in zip(case.storages, strange):
        if mask is not None:
            values = np.where(mask, stand_in, np.asarray(dtypes.to_array(data, dtype))) * scale
            data = values.astype(dtypes.to_array(data, dtype).dtype).tobytes()
        storages.append((dtype, data))
    return replace(case, storages=storages, differentiate=0)


def _run(function, case: Case) -> Observation:
    seed(torch)
    return Trial(torch, function, case).run()
