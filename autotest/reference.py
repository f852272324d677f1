"""The same case in double precision, for judging how far two single-precision results may differ."""

from dataclasses import replace

import numpy as np

from . import dtypes
from .case import Case, Named, TensorSpec, map_tree


def promoted(case: Case, rng: np.random.Generator | None = None) -> Case:
    """`case` with floating tensors and dtype arguments widened to float64 or complex128.

    With `rng`, every floating number is also moved by up to one epsilon of its original dtype (of bfloat16 under
    autocast, which rounds the inputs to it).
    """
    floor = dtypes.EPSILON["bfloat16"] if case.relation == "autocast" else 0.0
    return replace(
        case, args=map_tree(_promote_leaf, case.args), kwargs=map_tree(_promote_leaf, case.kwargs),
        storages=[_promote_storage(dtype, data, rng, floor) for dtype, data in case.storages],
        cotangents=[(position, _promote_leaf(spec)) for position, spec in case.cotangents or ()] or None)


def _promote_leaf(leaf):
    if isinstance(leaf, TensorSpec):
        return replace(leaf, dtype=dtypes.REFERENCE.get(leaf.dtype, leaf.dtype))
    if isinstance(leaf, Named) and leaf.kind == "dtype":
        return Named("dtype", dtypes.REFERENCE.get(leaf.name, leaf.name))
    return leaf


def _promote_storage(dtype: str, data: bytes, rng, floor: float) -> tuple:
    if dtype not in dtypes.REFERENCE:
        return dtype, data
    wide = dtypes.REFERENCE[dtype]
    values = dtypes.to_array(data, dtype).astype(wide)
    if rng is not None:
        values = values * (1 + max(dtypes.EPSILON[dtype], floor) * rng.uniform(-1, 1, values.shape))
    return wide, values.astype(wide).tobytes()
