"""Equal values: sort, topk and their kin may name any of them, and send the gradient there."""

import numpy as np

from ..cases import dtypes
from ..cases.case import Case, TensorSpec, gradient_inputs, seen

#: Operations whose documentation leaves open which of several equal values an index names.
_CHOOSING = {"sort", "argsort", "msort", "topk", "kthvalue", "mode", "median", "nanmedian"}


def choosing(path: str, case: Case) -> bool:
    """Whether the call may name any of several equal values: not where a stable sort is asked for, nor where the first of
    them is promised, as by `argmax` and `max`."""
    return path.split(".")[-1].rstrip("_") in _CHOOSING and case.kwargs.get("stable") is not True


#: Operations that choose among their inputs, or compare them, and compute nothing: what they say hangs on no rounding.
_SELECTING = _CHOOSING | {"max", "min", "amax", "amin", "aminmax", "maximum", "minimum", "fmax", "fmin", "argmax", "argmin", "cummax", "cummin", "searchsorted", "bucketize", "unique", "unique_consecutive",
                          "nonzero", "count_nonzero", "isin", "gt", "ge", "lt", "le", "eq", "ne", "greater", "greater_equal", "less",
                          "less_equal", "not_equal", "equal"}


def selecting(path: str) -> bool:
    """Whether the operation chooses among its inputs, or compares them, and computes nothing."""
    return path.split(".")[-1].rstrip("_") in _SELECTING


def equivalent(case: Case, t: np.ndarray, w: np.ndarray) -> bool:
    """Whether indices `w` pick the same values from the call's first tensor as `t` does, along one of its axes.

    An axis along which `t` repeats no index must not see `w` repeat one either.
    """
    source = _first(case)
    if source is None or t.dtype.kind != "i" or source.ndim == 0:
        return False
    return any(_along(source, t, w, axis) for axis in range(source.ndim))


def exchanged(case: Case, position: int, w: np.ndarray, t: np.ndarray, own: list, free: bool = False) -> np.ndarray:
    """Where gradient `w` differs from `t` only in which of several equal inputs it went to.

    It must be the last bit of the inputs that decides among them: `own` are the oracle's gradients on moved inputs. Not where the
    operation is `free` to choose.
    """
    spec = gradient_inputs(case)[position]
    values = seen(dtypes.to_array(case.storages[spec.storage][1], spec.dtype), spec)
    group = np.unique(values, return_inverse=True)[1].reshape(-1)
    moved = np.full(t.size, free)
    for run in own:
        moved |= run.reshape(-1) != t.reshape(-1)
    ordered = [x.reshape(-1)[np.lexsort((x.reshape(-1), group))] for x in (w, t)]
    return np.isin(group, group[moved]).reshape(t.shape) & np.array_equal(*ordered)


def _along(source: np.ndarray, t: np.ndarray, w: np.ndarray, axis: int) -> bool:
    if t.ndim == source.ndim - 1:  # the axis was reduced away
        t, w = np.expand_dims(t, axis), np.expand_dims(w, axis)
    fits = t.ndim == source.ndim and all(a == b for i, (a, b) in enumerate(zip(t.shape, source.shape)) if i != axis)
    if not fits or not _in_range(t, source.shape[axis]) or not _in_range(w, source.shape[axis]):
        return False
    picked, wanted = (np.take_along_axis(source, indices, axis) for indices in (w, t))
    same = np.array_equal(picked, wanted, equal_nan=source.dtype.kind in "fc")
    return same and (_repeats(w, axis) <= _repeats(t, axis))


def _in_range(indices: np.ndarray, extent: int) -> bool:
    return bool(np.all((indices >= 0) & (indices < extent)))


def _repeats(indices: np.ndarray, axis: int) -> bool:
    ordered = np.sort(indices, axis)
    return bool(np.any(np.diff(ordered, axis=axis) == 0))


def _first(case: Case) -> np.ndarray | None:
    """The values of the first argument, as strides see them."""
    spec = case.args[0] if case.args else None
    if not isinstance(spec, TensorSpec) or 0 in spec.size:
        return None
    return seen(dtypes.to_array(case.storages[spec.storage][1], spec.dtype), spec)
