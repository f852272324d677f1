"""Matrix decompositions by NumPy's LAPACK, and their gradients.

They run in float64 whatever the input's dtype: differences of nearly equal numbers are what their gradients are made of.
NumPy was chosen over LAPACK itself since weir already needs it; a device of its own will need kernels.
All take batches: shape (*, m, n), and T below means the transpose of the last two axes.
"""
import functools
import math

import weir
from weir._C import Tensor

from ._lazy import np


class LinAlgError(RuntimeError):
    """A matrix has no such decomposition: it is singular, not positive-definite, or the iteration did not converge."""


def decomposition(gradient):
    """Makes a function over arrays one over tensors, differentiable by `gradient(inputs, outputs, grads, **options)`.

    `gradient` is written in ops, so that it can be differentiated again; grads holds None for outputs without one.
    """
    def decorate(compute):
        @functools.cache
        def node():
            from .autograd import Function

            class Decomposition(Function):
                @staticmethod
                def forward(ctx, options, *inputs):
                    arrays = [x.detach().numpy() for x in inputs]
                    outputs = _from_arrays(compute(*arrays, **options), arrays[0].ndim)
                    ctx.set_materialize_grads(False)
                    # Detached: an output that its own node keeps would never be freed.
                    ctx.save_for_backward(*inputs, *(y.detach() for y in outputs))
                    ctx.options, ctx.count = options, len(inputs)
                    return outputs

                @staticmethod
                def backward(ctx, *grads):
                    saved = ctx.saved_tensors
                    inputs, outputs = saved[:ctx.count], saved[ctx.count:]
                    if weir.is_grad_enabled():  # for second derivatives, as functions of the inputs
                        outputs = Decomposition.apply(ctx.options, *inputs)
                    return (None, *gradient(inputs, outputs, grads, **ctx.options))

            Decomposition.__name__ = compute.__name__.strip("_").title()
            return Decomposition

        @functools.wraps(compute)
        def run(*inputs, **options):
            try:
                outputs = node().apply(options, *(x.double() for x in inputs))
            except np.linalg.LinAlgError as error:
                raise LinAlgError(f"linalg.{compute.__name__}: {error}") from None
            except ValueError as error:  # NumPy's word for shapes that do not fit, which PyTorch calls a RuntimeError
                raise RuntimeError(f"linalg.{compute.__name__}: {error}") from None
            outputs = tuple(y.to(inputs[0].dtype) for y in outputs)
            return outputs if len(outputs) > 1 else outputs[0]

        return run
    return decorate


def _from_arrays(result, rank):
    """The arrays of `result` as tensors; those of `rank` axes are matrices, which lie column by column as in LAPACK."""
    parts = result if isinstance(result, tuple) else (result,)
    return tuple(_by_columns(p) if p.ndim == rank else _by_rows(p) for p in parts)


def _by_rows(numbers):
    return weir.from_numpy(np.array(numbers, dtype=np.float64, order="C"))


def _by_columns(matrices):
    return weir.from_numpy(np.array(np.swapaxes(matrices, -1, -2), dtype=np.float64, order="C")).mT


def _diagonal_set(matrix, values):
    """matrix with `values` (a number, or a tensor of its diagonal's shape) on the diagonal."""
    eye = weir.eye(matrix.shape[-1], dtype=weir.bool)
    return weir.where(eye, values.unsqueeze(-1) if isinstance(values, Tensor) else weir.full_like(matrix, values), matrix)


def _differences(values):
    """values_j - values_i, 1 on the diagonal."""
    return _diagonal_set(values.unsqueeze(-2) - values.unsqueeze(-1), 1.0)


def _eliminated(a, search=True):
    """(LU in one matrix, the rows exchanged, counted from 0) as LAPACK's getrf leaves them, in a's own dtype: what
    rounds to a zero pivot there is singular. Without `search` rows stay where they are.

    Shapes: (*, m, n), (*, min(m, n)).
    """
    rows, columns = a.shape[-2:]
    rest = a.reshape(math.prod(a.shape[:-2]), rows, columns).copy()
    every, swaps = np.arange(len(rest)), np.tile(np.arange(min(rows, columns), dtype=np.int32), (len(rest), 1))
    with np.errstate(all="ignore"):
        for k in range(swaps.shape[1]):
            if search:
                size = np.abs(rest[:, k:, k])  # a NaN is the largest only where it comes first
                swaps[:, k] = k + np.where(np.isnan(size[:, 0]), 0, np.where(np.isnan(size), -1, size).argmax(1))
                rest[every, k], rest[every, swaps[:, k]] = rest[every, swaps[:, k]], rest[every, k]
            pivot, below = rest[:, k, k, None], rest[:, k + 1:, k]
            rest[:, k + 1:, k] = np.where(pivot != 0, below / pivot, below)
            rest[:, k + 1:, k + 1:] -= rest[:, k + 1:, k, None] * rest[:, k, None, k + 1:]
    return rest.reshape(a.shape), swaps.reshape(*a.shape[:-2], swaps.shape[1])


def _substituted(a, b, upper, unit=False):
    """X with A X = B by columns, as BLAS has it: a zero of X is neither divided nor passed on."""
    x, size = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:])), a.shape[-1]
    with np.errstate(all="ignore"):
        for k in range(size - 1, -1, -1) if upper else range(size):
            nonzero = x[..., k, :] != 0
            if not unit:
                x[..., k, :] = np.where(nonzero, x[..., k, :] / a[..., k, k, None], x[..., k, :])
            rest = slice(0, k) if upper else slice(k + 1, size)
            change = a[..., rest, k, None] * x[..., k, None, :]
            x[..., rest, :] -= np.where(nonzero[..., None, :], change, 0)
    return x


def _solved(a, b, dtype):
    """X with A X = B through LU in `dtype`, whatever A is: by a zero pivot is divided."""
    packed, swaps = _eliminated(a.astype(dtype))
    order = _order(swaps, a.shape[-1])
    b = np.take_along_axis(np.broadcast_to(b, a.shape[:-2] + b.shape[-2:]).astype(dtype), order[..., None], -2)
    return _substituted(packed, _substituted(packed, b, upper=False, unit=True), upper=True)


def _inv_gradient(inputs, outputs, grads, lax=None):
    y = outputs[0].mT
    return [-(y @ grads[0] @ y)]


@decomposition(_inv_gradient)
def inv(a, lax=None):
    """The inverses; `lax` names the dtype to divide by zero pivots in, where otherwise LinAlgError is raised."""
    return _solved(a, np.eye(a.shape[-1]), lax) if lax else np.linalg.inv(a)


def _solve_gradient(inputs, outputs, grads, lax=None):
    by_b = solve(inputs[0].mT, grads[0], lax=lax)
    return [-(by_b @ outputs[0].mT), by_b]


@decomposition(_solve_gradient)
def solve(a, b, lax=None):
    """X with A X = B, for matrices B of A's batch; `lax` as for `inv`."""
    return _solved(a, b, lax) if lax else np.linalg.solve(a, b)


def _substitute_gradient(inputs, outputs, grads, upper):
    by_b = substitute(inputs[0].mT, grads[0], upper=not upper)
    by_a = -(by_b @ outputs[0].mT)
    return [by_a.triu() if upper else by_a.tril(), by_b]


@decomposition(_substitute_gradient)
def substitute(a, b, upper):
    """X with A X = B for triangular A; a zero on A's diagonal divides, as in BLAS, where LAPACK's solve raises."""
    ordinary = np.diagonal(a, axis1=-2, axis2=-1).all() and np.isfinite(a).all() and np.isfinite(b).all()
    return np.linalg.solve(a, b) if ordinary else _substituted(a, b, upper)


def _slogdet_gradient(inputs, outputs, grads):
    return [grads[1].unsqueeze(-1).unsqueeze(-1) * inv(inputs[0]).mT if grads[1] is not None else None]


@decomposition(_slogdet_gradient)
def slogdet(a):
    """(sign, log |det|); the sign of NaN is 0."""
    sign, logarithm = np.linalg.slogdet(a)
    return np.where(np.isnan(logarithm), 0, sign), logarithm


def _cholesky_inverse_gradient(inputs, outputs, grads):
    """By the whole of L, as in PyTorch, though only its lower triangle is read."""
    y = outputs[0]
    return [-(y @ (grads[0] + grads[0].mT) @ y) @ inputs[0]]


@decomposition(_cholesky_inverse_gradient)
def cholesky_inverse(l):
    """(L L^T)^-1 for the lower triangle of L."""
    half = _substituted(np.tril(l), np.broadcast_to(np.eye(l.shape[-1]), l.shape), upper=False)
    with np.errstate(all="ignore"):
        return np.swapaxes(half, -1, -2) @ half


def _det_gradient(inputs, outputs, grads):
    """grad times the transposed adjugate: det A^-1 where A has an inverse, else from products of singular values. As in
    PyTorch the latter is found where the gradient itself has one; else it is 0, whatever the adjugate is."""
    a, value, grad = inputs[0], outputs[0], grads[0]
    singular = value.detach() == 0
    if not bool(singular.any()):
        return [(grad * value).unsqueeze(-1).unsqueeze(-1) * inv(a).mT]
    eye = weir.eye(a.shape[-1], dtype=weir.bool)
    if not weir.is_grad_enabled():
        inverse = inv(weir.where(singular.unsqueeze(-1).unsqueeze(-1), eye.to(a.dtype), a)).mT
        return [(grad * value).unsqueeze(-1).unsqueeze(-1) * inverse]
    u, s, vh = svd(a, full_matrices=False)
    others = weir.where(eye, weir.ones((), dtype=s.dtype), s.unsqueeze(-2)).prod(-1)
    adjugate = (det(u) * det(vh) * grad).unsqueeze(-1).unsqueeze(-1) * (u * others.unsqueeze(-2)) @ vh
    singular = singular.unsqueeze(-1).unsqueeze(-1)
    inverse = inv(weir.where(singular, eye.to(a.dtype), a)).mT
    return [weir.where(singular, adjugate, (grad * value).unsqueeze(-1).unsqueeze(-1) * inverse)]


@decomposition(_det_gradient)
def det(a):
    """The product of LU's pivots, with the sign of the exchanges."""
    packed, swaps = _eliminated(a)
    exchanges = (swaps != np.arange(a.shape[-1])).sum(-1)
    with np.errstate(all="ignore"):
        return np.diagonal(packed, axis1=-2, axis2=-1).prod(-1) * (1 - 2 * (exchanges % 2))


def _bordered(a):
    """(the lower Cholesky factor, info) as LAPACK's potf2 leaves them: where a leading minor is not positive-definite,
    A's columns stand as they are from there on, but for the pivot that showed it. Shapes: (*, n, n), (*)."""
    size = a.shape[-1]
    factors, infos = a.reshape(math.prod(a.shape[:-2]), size, size).copy(), np.zeros(math.prod(a.shape[:-2]), np.int32)
    with np.errstate(all="ignore"):
        for m, matrix in enumerate(factors):
            for k in range(size):
                done = matrix[k, :k]
                matrix[k, k] -= done @ done
                if not matrix[k, k] > 0:
                    infos[m] = k + 1
                    break
                matrix[k, k] = np.sqrt(matrix[k, k])
                matrix[k + 1:, k] = (matrix[k + 1:, k] - matrix[k + 1:, :k] @ done) / matrix[k, k]
    return np.tril(factors).reshape(a.shape), infos.reshape(a.shape[:-2])


def _cholesky_gradient(inputs, outputs, grads, lax=None):
    factor, lower = outputs[0], (outputs[0].mT @ grads[0]).tril()
    symmetric = 0.5 * (lower + lower.tril(-1).mT)
    return [solve(factor.mT, solve(factor.mT, symmetric.mT, lax=lax).mT, lax=lax)]


@decomposition(_cholesky_gradient)
def cholesky(a, lax=None):
    """The lower factor; only A's lower triangle is read. `lax` names the dtype to go as far as possible in, where
    otherwise LinAlgError is raised."""
    if lax:
        return _bordered(a.astype(lax))[0]
    return np.linalg.cholesky(np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2))


def _eigh_gradient(inputs, outputs, grads, uplo):
    values, vectors = outputs
    by_values, by_vectors = grads
    if by_vectors is None:
        return [(vectors * by_values.unsqueeze(-2)) @ vectors.mT]
    inner = vectors.mT @ by_vectors
    inner = _diagonal_set(0.5 * (inner - inner.mT) / _differences(values), weir.zeros_like(values) if by_values is None else by_values)
    return [vectors @ inner @ vectors.mT]


@decomposition(_eigh_gradient)
def eigh(a, uplo):
    """(values in rising order, vectors as columns) of a symmetric matrix."""
    return _eigh_arrays(a, uplo)


def _finite(a):
    """(a with zeros for matrices that hold an infinity, which those are). LAPACK need not return from them.

    Raises LinAlgError for NaN, as PyTorch does.
    """
    if np.isnan(a).any():
        raise np.linalg.LinAlgError("The algorithm failed to converge because the input matrix contained non-finite values.")
    infinite = np.isinf(a).any((-2, -1))
    return np.where(infinite[..., None, None], 0, a), infinite


def _svd_arrays(a, full_matrices):
    """NumPy's svd; the singular values of a matrix with infinities are NaN."""
    a, infinite = _finite(a)
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    return u, np.where(infinite[..., None], np.nan, s), vh


def _eigh_arrays(a, uplo):
    """NumPy's eigh; the eigenvalues of a matrix with infinities or NaN are NaN."""
    a = np.tril(a) if uplo == "L" else np.triu(a)
    a, infinite = _finite(np.where(np.isnan(a), np.inf, a))
    values, vectors = np.linalg.eigh(a, uplo)
    return np.where(infinite[..., None], np.nan, values), vectors


def _svd_gradient(inputs, outputs, grads, full_matrices):
    k = outputs[1].shape[-1]
    u, s, vh = outputs[0][..., :k], outputs[1], outputs[2][..., :k, :]
    gu, gs, gvh = grads
    gu = None if gu is None else gu[..., :k]
    gvh = None if gvh is None else gvh[..., :k, :]
    if gu is None and gvh is None:
        return [(u * gs.unsqueeze(-2)) @ vh]
    gap = _diagonal_set((s.unsqueeze(-2) - s.unsqueeze(-1)) * (s.unsqueeze(-2) + s.unsqueeze(-1)), 1.0)
    skew = lambda x: (x - x.mT) / gap  # noqa: E731
    inner = _diagonal_set(weir.zeros_like(gap), weir.zeros_like(s) if gs is None else gs)
    if gu is not None:
        inner = inner + skew(u.mT @ gu) * s.unsqueeze(-2)
    if gvh is not None:
        inner = inner + s.unsqueeze(-1) * skew(vh @ gvh.mT)
    result = u @ inner @ vh
    if gu is not None and u.shape[-2] > k:
        result = result + ((gu - u @ (u.mT @ gu)) / s.unsqueeze(-2)) @ vh
    if gvh is not None and vh.shape[-1] > k:
        result = result + u @ ((gvh - (gvh @ vh.mT) @ vh) / s.unsqueeze(-1))
    return [result]


@decomposition(_svd_gradient)
def svd(a, full_matrices):
    """(U, S, Vh) with A = U diag(S) Vh and S falling."""
    return _svd_arrays(a, full_matrices)


def _qr_gradient(inputs, outputs, grads, mode):
    (q, r), (gq, gr), a = outputs, grads, inputs[0]
    m, n = a.shape[-2:]
    if mode == "complete" and m > n:
        raise RuntimeError("linalg.qr: the derivative depends on the first columns only and is not implemented for mode "
                           "complete with more rows than columns")
    gq = weir.zeros_like(q) if gq is None else gq
    gr = weir.zeros_like(r) if gr is None else gr
    if m >= n:
        return [_tall_qr_gradient(q, r, gq, gr)]
    rest = gr[..., m:]  # R = (R1, Q^T A2): A2's part reaches Q too
    left = _tall_qr_gradient(q, r[..., :m], gq + a[..., m:] @ rest.mT, gr[..., :m])
    return [weir.cat([left, q @ rest], -1)]


def _tall_qr_gradient(q, r, gq, gr):
    upper = (gr @ r.mT - q.mT @ gq).triu()
    right = gq + q @ (upper + upper.triu(1).mT)
    return substitute(r, right.mT, upper=True).mT


@decomposition(_qr_gradient)
def qr(a, mode):
    """(Q, R); mode: reduced or complete."""
    return tuple(np.linalg.qr(a, mode))


def pinv_gradient(inputs, outputs, grads, cutoff, hermitian):
    a, p, g = inputs[0], outputs[0], grads[0].mT
    pt = p.mT
    if a.shape[-2] <= a.shape[-1]:
        k = g @ p
        kp = k @ pt
        return [-(p @ k).mT + kp - (a @ p) @ kp + (pt @ p) @ (g - k @ a)]
    k = p @ g
    pk = pt @ k
    return [-(k @ p).mT + (g - a @ k) @ p @ pt + pk - (pk @ p) @ a]


@decomposition(pinv_gradient)
def pinv(a, cutoff, hermitian):
    """The pseudo-inverse; singular values up to cutoff(the largest) count as 0. Source of the gradient: Golub & Pereyra 1973."""
    if hermitian:
        values, u = _eigh_arrays(a, "L")
        vh = np.swapaxes(u, -1, -2)
    else:
        u, values, vh = _svd_arrays(a, False)
    size = np.abs(values)
    limit = cutoff(size.max(-1, keepdims=True)) if size.shape[-1] else 0.0
    inverse = np.where(size > limit, 1 / np.where(size > limit, values, 1), 0)
    inverse = np.where(np.isnan(size) & (cutoff(1.0) < 1), np.nan, inverse)
    return np.swapaxes(vh, -1, -2) * inverse[..., None, :] @ np.swapaxes(u, -1, -2)


def _lu_gradient(inputs, outputs, grads):
    lower, upper = outputs
    by_lower = weir.zeros_like(lower) if grads[0] is None else (lower.mT @ grads[0]).tril(-1)
    by_upper = weir.zeros_like(upper) if grads[1] is None else (grads[1] @ upper.mT).triu()
    return [substitute(lower.mT, substitute(upper, (by_lower + by_upper).mT, upper=True).mT, upper=True)]


@decomposition(_lu_gradient)
def lu_in_order(a):
    """(L, U) of square matrices whose rows stand in pivoting order: L has ones on its diagonal."""
    packed = _eliminated(a, search=False)[0]
    return np.tril(packed, -1) + np.eye(a.shape[-1]), np.triu(packed)


def pivots(a: Tensor) -> Tensor:
    """The rows that partial pivoting exchanges, from 1 as LAPACK counts, int32. Shape: (*, min(m, n))."""
    return weir.from_numpy(_eliminated(a.detach().numpy())[1] + np.int32(1))


def first_zero_pivot(a: Tensor) -> Tensor:
    """The place, from 1, of the first zero on the diagonal of LU's U, 0 where there is none, int32. Shape: a's batch."""
    zero = np.diagonal(_eliminated(a.detach().numpy())[0], axis1=-2, axis2=-1) == 0
    places = np.where(zero, np.arange(1, zero.shape[-1] + 1), zero.shape[-1] + 1).min(-1, initial=zero.shape[-1] + 1)
    return weir.from_numpy(np.where(zero.any(-1), places, 0).astype(np.int32))


def first_bad_minor(a: Tensor) -> Tensor:
    """The order of the first leading minor that is not positive-definite, 0 where there is none, int32. Shape: a's batch."""
    return weir.from_numpy(_bordered(a.detach().numpy())[1])


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


def raw_qr(a: Tensor):
    """(reflectors below R, their factors tau) as LAPACK's geqrf leaves them; no gradient."""
    raw, tau = np.linalg.qr(a.detach().double().numpy(), "raw")
    return _by_columns(np.swapaxes(raw, -1, -2)).to(a.dtype), weir.from_numpy(np.array(tau, order="C")).to(a.dtype)
