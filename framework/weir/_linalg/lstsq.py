"""Least squares as LAPACK's drivers see them: each has a rank of its own for a matrix, and solves that of this rank.

Shapes: A (*, m, n), B (*, m, k) of one batch.
"""

import functools
import math

import weir
from weir._C import Tensor

from .._lazy import np
from .decomposition import LinAlgError, decomposition
from .lapack import pinv, pinv_gradient


def _pivoted_qr(a):
    """(Q, R, order) of one matrix with A[:, order] = Q R and the largest remaining column first, as LAPACK's geqp3."""
    q, rest, order = np.eye(a.shape[0]), a.copy(), np.arange(a.shape[1])
    for k in range(min(a.shape)):
        largest = k + int((rest[k:, k:] ** 2).sum(0).argmax())
        rest[:, [k, largest]], order[[k, largest]] = rest[:, [largest, k]], order[[largest, k]]
        v = rest[k:, k].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        if v.any():
            reflect = np.eye(len(v)) - 2 * np.outer(v, v) / (v @ v)
            rest[k:], q[:, k:] = reflect @ rest[k:], q[:, k:] @ reflect
    return q, np.triu(rest), order


def _gelsy_rank(r, rcond):
    """How many leading columns of the triangle R are well conditioned: the first by itself, unless it is zero."""
    if not r.size or r[0, 0] == 0:
        return 0
    rank = 1
    while rank < min(r.shape):
        values = np.linalg.svd(r[:rank + 1, :rank + 1], compute_uv=False)
        if values[0] * rcond > values[-1]:
            break
        rank += 1
    return rank


def tolerance(a: Tensor) -> float:
    """Up to which part of the largest singular value others are rounding, in a's own dtype."""
    return weir.finfo(a.dtype).eps * max(a.shape[-2:])


def limit(a: Tensor, rcond, driver) -> float:
    """Up to which part of the largest singular value others count as 0. gelsd knows none of 1 and above."""
    rcond = tolerance(a) if rcond is None else float(rcond)
    return weir.finfo(a.dtype).eps / 2 if rcond < 0 or (driver == "gelsd" and not 0 < rcond < 1) else rcond


def _trimmed(matrix, rcond, driver):
    """(a matrix as `driver` sees it, its rank)."""
    if not np.isfinite(matrix).all():
        if driver in ("gels", "gelsd"):
            raise LinAlgError(f"torch.linalg.lstsq: LAPACK's {driver} takes no infinite matrix")
        return np.zeros_like(matrix), int(driver == "gelsy")
    if driver == "gels" or not matrix.size:
        return matrix, min(matrix.shape)
    if driver == "gelsy":
        q, r, order = _pivoted_qr(matrix)
        rank = _gelsy_rank(r, rcond)
        trimmed = np.empty_like(matrix)
        trimmed[:, order] = q[:, :rank] @ r[:rank]
        return trimmed, rank
    u, s, vh = np.linalg.svd(matrix, full_matrices=False)
    rank = int((s > rcond * s[0]).sum())
    return (u[:, :rank] * s[:rank]) @ vh[:rank], rank


def _flat(a):
    return a.reshape(math.prod(a.shape[:-2]), *a.shape[-2:])


def rank(a: Tensor, limit: float, driver) -> Tensor:
    """The rank that LAPACK's `driver` finds, int64. Shape: a's batch."""
    ranks = [_trimmed(matrix, limit, driver)[1] for matrix in _flat(a.detach().double().numpy())]
    return weir.from_numpy(np.array(ranks, dtype=np.int64).reshape(a.shape[:-2]))


def _lstsq_gradient(inputs, outputs, grads, limit, driver, tolerance):
    """That of pinv(A) B, which as in PyTorch has a tolerance of its own."""
    a, b = inputs
    cutoff = functools.partial(np.multiply, tolerance)
    inverse = pinv(a, cutoff=cutoff, hermitian=False)
    by_a, = pinv_gradient([a], [inverse], [grads[0] @ b.mT], cutoff, False)
    return [by_a, inverse.mT @ grads[0]]


@decomposition(_lstsq_gradient)
def lstsq(a, b, limit, driver, tolerance):
    """The X of least norm among those with the least |A X - B|, for A of the rank that `driver` finds."""
    if not a.size:
        return np.zeros((*a.shape[:-2], a.shape[-1], b.shape[-1]))
    seen = [_trimmed(matrix, limit, driver) for matrix in _flat(a)]
    inverses = [np.linalg.pinv(trimmed, rcond=1e-10 if rank else 1.0) for trimmed, rank in seen]
    ranks = np.array([rank for _, rank in seen]).reshape(a.shape[:-2])[..., None, None]
    spoiled = ~np.isfinite(a).all((-2, -1), keepdims=True) | ~np.isfinite(b).all((-2, -1), keepdims=True)
    result = np.stack(inverses).reshape(*a.shape[:-2], a.shape[-1], a.shape[-2]) @ np.where(spoiled, 0, b)
    return np.where(spoiled & (ranks > 0), np.nan, result)
