"""LU, as LAPACK's getrf finds it and rounds, and what is solved through it: systems, inverses, triangles.

All take batches, shape (*, m, n). Where rounding decides nothing, NumPy solves.
"""
import math

import weir
from weir._C import Tensor

from .._lazy import np
from .decomposition import decomposition, diagonal_set, transposed


#: Squares up to this size end in a step of MKL's that divides by the pivot instead of multiplying by its reciprocal.
_CLOSING = 4


def eliminated(a):
    """(LU in one matrix, the rows exchanged, counted from 0) as LAPACK's getrf leaves them, in a's own dtype and by its
    roundings: they decide what is singular.

    Shapes: (*, m, n), (*, min(m, n)).
    """
    rows, columns = a.shape[-2:]
    rest = a.reshape(math.prod(a.shape[:-2]), rows, columns).copy()
    every, swaps = np.arange(len(rest)), np.tile(np.arange(min(rows, columns), dtype=np.int32), (len(rest), 1))
    with np.errstate(all="ignore"):
        for k in range(swaps.shape[1]):
            size = np.abs(rest[:, k:, k])  # a NaN is the largest only where it comes first
            swaps[:, k] = k + np.where(np.isnan(size[:, 0]), 0, np.where(np.isnan(size), -1, size).argmax(1))
            rest[every, k], rest[every, swaps[:, k]] = rest[every, swaps[:, k]], rest[every, k]
            pivot, below = rest[:, k, k, None], rest[:, k + 1:, k]
            divides = rows == columns <= _CLOSING and k == rows - 2
            rest[:, k + 1:, k] = np.where(pivot == 0, below, below / pivot if divides else below * (1 / pivot))
            rest[:, k + 1:, k + 1:] -= rest[:, k + 1:, k, None] * rest[:, k, None, k + 1:]
    return rest.reshape(a.shape), swaps.reshape(*a.shape[:-2], swaps.shape[1])


def substituted(a, b, upper, unit=False):
    """X with A X = B by columns, as MKL has it: multiplied by the reciprocals of the diagonal, whatever they are."""
    x, size = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:])), a.shape[-1]
    with np.errstate(all="ignore"):
        for k in range(size - 1, -1, -1) if upper else range(size):
            if not unit:
                x[..., k, :] *= 1 / a[..., k, k, None]
            rest = slice(0, k) if upper else slice(k + 1, size)
            x[..., rest, :] -= a[..., rest, k, None] * x[..., k, None, :]
    return x


def _by_factors(packed, order, b, adjoint):
    """X with P L U X = B, or with `adjoint` (P L U)^T X = B, for L and U in one matrix and the rows' `order` under P."""
    order = order[..., None]
    if not adjoint:
        x = substituted(packed, np.take_along_axis(b, order, -2), upper=False, unit=True)
        return substituted(packed, x, upper=True)
    packed = transposed(packed)
    x = substituted(packed, substituted(packed, b, upper=False), upper=True, unit=True)
    return np.take_along_axis(x, order.argsort(-2), -2)


def _solved(a, b, dtype, turned, lax):
    """X with A X = B through LU of A, or where `turned` of its transpose, in `dtype`. A zero pivot divides where `lax`,
    else it raises LinAlgError."""
    packed, swaps = eliminated((transposed(a) if turned else a).astype(dtype))
    if not lax and (np.diagonal(packed, axis1=-2, axis2=-1) == 0).any():
        raise np.linalg.LinAlgError("The solver failed because the input matrix is singular.")
    b = np.broadcast_to(b, a.shape[:-2] + b.shape[-2:]).astype(dtype)
    return _by_factors(packed, _order(swaps, a.shape[-1]), b, turned)


#: How far the rounding of a matrix, amplified by its inverse, may reach for NumPy's solution to be PyTorch's.
_HARMLESS = 1 / 16


def regular(a, dtype):
    """Whether all matrices are finite and so well conditioned that rounding in `dtype` decides nothing about them."""
    if not np.isfinite(a).all():
        return False
    if not a.size:
        return True
    try:
        inverse = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return False
    with np.errstate(all="ignore"):
        condition = np.linalg.norm(a, 1, (-2, -1)) * np.linalg.norm(inverse, 1, (-2, -1))
        return bool((condition * a.shape[-1] * np.finfo(dtype).eps < _HARMLESS).all())


def _inv_gradient(inputs, outputs, grads, dtype, turned=False, lax=False):
    y = outputs[0].mT
    return [-(y @ grads[0] @ y)]


@decomposition(_inv_gradient)
def inv(a, dtype, turned=False, lax=False):
    """The inverses; `dtype`, `turned` and `lax` as for `solve`."""
    return np.linalg.inv(a) if regular(a, dtype) else _solved(a, np.eye(a.shape[-1]), dtype, turned, lax)


def _solve_gradient(inputs, outputs, grads, dtype, turned, lax=False):
    # The first derivative reuses the factors, and minds no zero in them; further ones begin anew.
    again = weir.is_grad_enabled()
    by_b = solve(inputs[0].mT, grads[0], dtype=dtype, turned=turned if again else not turned, lax=lax or not again)
    return [-(by_b @ outputs[0].mT), by_b]


@decomposition(_solve_gradient)
def solve(a, b, dtype, turned, lax=False):
    """X with A X = B, for matrices B of A's batch. An A that is singular in `dtype` raises LinAlgError, or divides by zero
    pivots where `lax`. PyTorch may eliminate in the transpose: `turned`."""
    ordinary = np.isfinite(b).all() and regular(a, dtype)
    return np.linalg.solve(a, b) if ordinary else _solved(a, b, dtype, turned, lax)


def _lu_solve_gradient(inputs, outputs, grads, permutation, adjoint):
    """Source: PyTorch's linalg_lu_solve_LU, where A = P L U."""
    packed, x, g, p = inputs[0], outputs[0], grads[0], permutation.to(grads[0].dtype)
    lower, upper = diagonal_set(packed.tril(), 1.0), packed.triu()
    by_b = lu_solve(packed, g, permutation=permutation, adjoint=not adjoint)
    if adjoint:
        both = substitute(lower, (-(p.mT @ x) @ (g.mT @ p)).mT, upper=False).mT
        by_upper = substitute(upper, (lower.mT @ both).mT, upper=True).mT
        return [both.tril(-1) + by_upper.triu(), by_b]
    both = substitute(upper.mT, -(g @ x.mT), upper=False)
    by_lower = substitute(lower.mT, both @ upper.mT, upper=True)
    return [by_lower.tril(-1) + both.triu(), by_b]


@decomposition(_lu_solve_gradient)
def lu_solve(packed, b, permutation, adjoint):
    """X with P L U X = B, or with `adjoint` (P L U)^T X = B, for L and U in one matrix and P as a tensor of bools."""
    if not packed.size:  # nothing to exchange
        return b
    return _by_factors(packed, permutation.numpy().argmax(-2), b, adjoint)


def _substitute_gradient(inputs, outputs, grads, upper):
    by_b = substitute(inputs[0].mT, grads[0], upper=not upper)
    by_a = -(by_b @ outputs[0].mT)
    return [by_a.triu() if upper else by_a.tril(), by_b]


@decomposition(_substitute_gradient)
def substitute(a, b, upper):
    """X with A X = B for triangular A; a zero on A's diagonal divides, as in BLAS, where LAPACK's solve raises."""
    ordinary = np.diagonal(a, axis1=-2, axis2=-1).all() and np.isfinite(a).all() and np.isfinite(b).all()
    return np.linalg.solve(a, b) if ordinary else substituted(a, b, upper)


def _lu_gradient(inputs, outputs, grads, dtype):
    """Source: PyTorch's linalg_lu_backward, for square, wide and tall matrices."""
    (lower, upper), (by_lower, by_upper) = outputs, grads
    rows, columns = lower.shape[-2], upper.shape[-1]
    k = min(rows, columns)
    by_lower = weir.zeros_like(lower) if by_lower is None else by_lower.tril(-1)
    by_upper = weir.zeros_like(upper) if by_upper is None else by_upper.triu()
    square = lambda x: x[..., :k, :k]  # noqa: E731
    past_upper = lambda x: substitute(square(upper), x.mT, upper=True).mT  # noqa: E731
    past_lower = lambda x: substitute(square(lower).mT, x, upper=True)  # noqa: E731
    from_lower, from_upper = lower.mT @ by_lower, by_upper @ upper.mT
    if rows == columns:
        result = past_lower(past_upper(from_lower.tril(-1) + from_upper.triu()))
    elif rows < columns:
        result = square(by_upper) + past_upper((from_lower - from_upper).tril(-1))
        result = past_lower(weir.cat([result, by_upper[..., k:]], -1))
    else:
        result = square(by_lower) + past_lower((from_upper - from_lower).triu())
        result = past_upper(weir.cat([result, by_lower[..., k:, :]], -2))
    return [permutation(pivots(inputs[0], dtype), rows, result.dtype) @ result]


@decomposition(_lu_gradient)
def lu(a, dtype):
    """(L, U), rounded as in `dtype`, with A = P L U for the exchanges that `pivots` names."""
    packed, k = eliminated(a.astype(dtype))[0], min(a.shape[-2:])
    return np.tril(packed[..., :k], -1) + np.eye(a.shape[-2], k), np.triu(packed[..., :k, :])


def pivots(a: Tensor, dtype) -> Tensor:
    """The rows that partial pivoting in `dtype` exchanges, from 1 as LAPACK counts, int32. Shape: (*, min(m, n))."""
    return weir.from_numpy(eliminated(a.detach().double().numpy().astype(dtype))[1] + np.int32(1))


def permutation(swaps: Tensor, rows: int, dtype) -> Tensor:
    """P with A = P L U for the exchanges `swaps`, from 1. Shape: (*, rows, rows)."""
    return (row_order(swaps, rows).unsqueeze(-2) == weir.arange(rows).unsqueeze(-1)).to(dtype)


def first_zero_pivot(a: Tensor, dtype) -> Tensor:
    """The place, from 1, of the first zero on the diagonal of LU's U, 0 where there is none, int32. Shape: a's batch."""
    zero = np.diagonal(eliminated(a.detach().double().numpy().astype(dtype))[0], axis1=-2, axis2=-1) == 0
    places = np.where(zero, np.arange(1, zero.shape[-1] + 1), zero.shape[-1] + 1).min(-1, initial=zero.shape[-1] + 1)
    return weir.from_numpy(np.where(zero.any(-1), places, 0).astype(np.int32))


def _order(swaps, rows):
    """Which row stands where after the exchanges `swaps`, counted from 0. Shape: (*, rows)."""
    flat = swaps.reshape(math.prod(swaps.shape[:-1]), swaps.shape[-1])
    order = np.tile(np.arange(rows), (len(flat), 1))
    for line, swap in zip(order, flat):
        for k, row in enumerate(swap):
            line[[k, row]] = line[[row, k]]
    return order.reshape(*swaps.shape[:-1], rows)


def row_order(swaps: Tensor, rows: int) -> Tensor:
    """Which row of A stands where after the exchanges `swaps`, from 1, int64. Shape: (*, rows)."""
    return weir.from_numpy(_order(swaps.numpy() - 1, rows))
