"""Determinants, Cholesky factors, spectra, QR and pseudo-inverses by NumPy's LAPACK, and their gradients.

All take batches: shape (*, m, n).
"""
import functools
import math

import weir
from weir._C import Tensor

from .._lazy import np
from .decomposition import by_columns, decomposition, diagonal_set, differences, transposed
from .lu import eliminated, inv, regular, solve, substitute, substituted


def _determinant_parts(a, dtype, turned):
    """(LU's pivots in `dtype`, the sign of the exchanges)."""
    packed, swaps = eliminated((transposed(a) if turned else a).astype(dtype))
    exchanges = (swaps != np.arange(a.shape[-1])).sum(-1)
    return np.diagonal(packed, axis1=-2, axis2=-1), 1 - 2 * (exchanges % 2)


def _slogdet_gradient(inputs, outputs, grads, dtype, turned):
    if grads[1] is None:
        return [None]
    wide = weir.diag_embed(grads[1].unsqueeze(-1).expand(inputs[0].shape[:-1]))
    # As in PyTorch a singular matrix is an error only where the gradient itself has one.
    return [solve(inputs[0].mT, wide, dtype=dtype, turned=not turned, lax=not weir.is_grad_enabled())]


@decomposition(_slogdet_gradient)
def slogdet(a, dtype, turned):
    """(sign, log |det|); the sign of NaN is 0. `dtype` and `turned` as for `solve`."""
    if regular(a, dtype):
        return tuple(np.linalg.slogdet(a))
    pivots, sign = _determinant_parts(a, dtype, turned)
    with np.errstate(all="ignore"):
        return np.where(np.isnan(pivots), 0, np.sign(pivots)).prod(-1) * sign, np.log(np.abs(pivots)).sum(-1)


def _cholesky_inverse_gradient(inputs, outputs, grads):
    """By the whole of L, as in PyTorch, though only its lower triangle is read."""
    y = outputs[0]
    return [-(y @ ((grads[0] + grads[0].mT) @ y)) @ inputs[0]]


@decomposition(_cholesky_inverse_gradient)
def cholesky_inverse(l):
    """(L L^T)^-1 for the lower triangle of L."""
    if (np.diagonal(l, axis1=-2, axis2=-1) == 0).any():
        raise np.linalg.LinAlgError("A diagonal element is zero, the inversion could not be completed.")
    result, size = np.zeros_like(l), l.shape[-1]
    half = np.zeros_like(l)  # the factor's inverse, of which as in LAPACK only the lower triangle takes part
    for k in range(size):
        half[..., k:, k:k + 1] = substituted(l[..., k:, k:], np.eye(size - k, 1), upper=False)
    with np.errstate(all="ignore"):
        for k in range(size):
            row = half[..., k, :k + 1]
            result[..., :k + 1, :k + 1] += row[..., None] * row[..., None, :]
    return result


def _cholesky_solve_gradient(inputs, outputs, grads):
    """By the whole of L, as in PyTorch, though only its lower triangle is read."""
    by_b = cholesky_solve(grads[0], inputs[1])
    by_a = by_b @ outputs[0].mT
    return [by_b, -(by_a + by_a.mT) @ inputs[1]]


@decomposition(_cholesky_solve_gradient)
def cholesky_solve(b, l):
    """X with L L^T X = B for the lower triangle of L."""
    lower = np.tril(l)
    return substituted(transposed(lower), substituted(lower, b, upper=False), upper=True)


def _det_gradient(inputs, outputs, grads, dtype, turned):
    """grad times the transposed adjugate: det A^-1 where A has an inverse, else from products of singular values. As in
    PyTorch the latter is found where the gradient itself has one; else it is 0, whatever the adjugate is."""
    a, value, grad = inputs[0], outputs[0], grads[0]
    singular = value.detach() == 0
    inverse_of = functools.partial(inv, dtype=dtype, turned=turned, lax=True)
    if not bool(singular.any()):
        return [(grad * value).unsqueeze(-1).unsqueeze(-1) * inverse_of(a).mT]
    eye = weir.eye(a.shape[-1], dtype=weir.bool)
    if not weir.is_grad_enabled():
        inverse = inverse_of(weir.where(singular.unsqueeze(-1).unsqueeze(-1), eye.to(a.dtype), a)).mT
        return [(grad * value).unsqueeze(-1).unsqueeze(-1) * inverse]
    u, s, vh = svd(a, full_matrices=False)
    others = weir.where(eye, weir.ones((), dtype=s.dtype), s.unsqueeze(-2)).prod(-1)
    orientation = det(u, dtype="float64", turned=False) * det(vh, dtype="float64", turned=False)
    adjugate = (orientation * grad).unsqueeze(-1).unsqueeze(-1) * (u * others.unsqueeze(-2)) @ vh
    singular = singular.unsqueeze(-1).unsqueeze(-1)
    inverse = inverse_of(weir.where(singular, eye.to(a.dtype), a)).mT
    return [weir.where(singular, adjugate, (grad * value).unsqueeze(-1).unsqueeze(-1) * inverse)]


@decomposition(_det_gradient)
def det(a, dtype, turned):
    """The product of LU's pivots, with the sign of the exchanges. `dtype` and `turned` as for `solve`."""
    # Not NumPy's, which passes through the logarithm.
    pivots, sign = _determinant_parts(a, "float64" if regular(a, dtype) else dtype, turned)
    with np.errstate(all="ignore"):
        return pivots.prod(-1) * sign


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
                pivot, matrix[k, k] = matrix[k, k], np.sqrt(matrix[k, k])
                # As MKL has it: below an infinite pivot there are NaNs.
                matrix[k + 1:, k] = (matrix[k + 1:, k] - matrix[k + 1:, :k] @ done) * (matrix[k, k] / pivot)
    return np.tril(factors).reshape(a.shape), infos.reshape(a.shape[:-2])


def _cholesky_gradient(inputs, outputs, grads, lax=None):
    factor, lower = outputs[0], (outputs[0].mT @ grads[0]).tril()
    symmetric = 0.5 * (lower + lower.tril(-1).mT)
    return [substitute(factor.mT, substitute(factor.mT, symmetric.mT, upper=True).mT, upper=True)]


@decomposition(_cholesky_gradient)
def cholesky(a, lax=None):
    """The lower factor; only A's lower triangle is read. `lax` names the dtype to go as far as possible in, where
    otherwise LinAlgError is raised."""
    if lax:
        return _bordered(a.astype(lax))[0]
    return np.linalg.cholesky(np.tril(a) + transposed(np.tril(a, -1)))


def _eigh_gradient(inputs, outputs, grads, uplo):
    values, vectors = outputs
    by_values, by_vectors = grads
    if by_vectors is None:
        return [(vectors * by_values.unsqueeze(-2)) @ vectors.mT]
    inner = vectors.mT @ by_vectors
    inner = diagonal_set(0.5 * (inner - inner.mT) / differences(values), weir.zeros_like(values) if by_values is None else by_values)
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
    """NumPy's svd; the singular values of a matrix with infinities are NaN, and its vectors where `_spoils_vectors`."""
    spoiled = _spoils_vectors(a)
    a, infinite = _finite(a)
    u, s, vh = np.linalg.svd(a, full_matrices=full_matrices)
    return np.where(spoiled, np.nan, u), np.where(infinite[..., None], np.nan, s), np.where(spoiled, np.nan, vh)


def _spoils_vectors(a):
    """Whether a matrix has an infinity beside its diagonal, which LAPACK's reflections spread. Shape: (*, 1, 1)."""
    return (np.isinf(a) & ~np.eye(*a.shape[-2:], dtype=bool)).any((-2, -1), keepdims=True)


def _eigh_arrays(a, uplo):
    """NumPy's eigh. The eigenvalues of a matrix with infinities are NaN; LAPACK raises for those that its reduction to three
    diagonals spreads, and for NaN, but in matrices of two rows."""
    if a.shape[-1] == 1:
        return a[..., 0], np.ones_like(a)
    a = np.tril(a) if uplo == "L" else np.triu(a)
    lower = a if uplo == "L" else transposed(a)
    if a.shape[-1] > 2 and (np.isnan(a).any() or np.isinf(np.tril(lower, -2)).any()):
        raise np.linalg.LinAlgError("The algorithm failed to converge because the input matrix contained non-finite values.")
    spoiled = _spoils_vectors(a)
    a, infinite = _finite(np.where(np.isnan(a), np.inf, a))
    values, vectors = np.linalg.eigh(a, uplo)
    values, vectors = np.where(infinite[..., None], np.nan, values), np.where(spoiled, np.nan, vectors)
    if a.shape[-1] == 2:  # by a formula, whose comparisons a NaN on the diagonal passes as if both elements were one
        beside = lower[..., 1, 0]
        lost = np.isnan(np.diagonal(lower, axis1=-2, axis2=-1)).any(-1) & np.isfinite(beside)
        pair = math.sqrt(2) * np.abs(beside)[..., None] * np.array([-1, 1])
        values, vectors = np.where(lost[..., None], pair, values), np.where(lost[..., None, None], np.nan, vectors)
    return values, vectors


def _svd_gradient(inputs, outputs, grads, full_matrices):
    k = outputs[1].shape[-1]
    u, s, vh = outputs[0][..., :k], outputs[1], outputs[2][..., :k, :]
    gu, gs, gvh = grads
    gu = None if gu is None else gu[..., :k]
    gvh = None if gvh is None else gvh[..., :k, :]
    if gu is None and gvh is None:
        return [(u * gs.unsqueeze(-2)) @ vh]
    gap = diagonal_set((s.unsqueeze(-2) - s.unsqueeze(-1)) * (s.unsqueeze(-2) + s.unsqueeze(-1)), 1.0)
    skew = lambda x: (x - x.mT) / gap  # noqa: E731
    inner = diagonal_set(weir.zeros_like(gap), weir.zeros_like(s) if gs is None else gs)
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


def _reflectors(a):
    """(reflectors below R, their factors tau) as LAPACK's geqr2 leaves them, whatever A holds. Shapes: (*, m, n),
    (*, min(m, n))."""
    rows, columns = a.shape[-2:]
    rest = a.reshape(math.prod(a.shape[:-2]), rows, columns).copy()
    factors = np.zeros((len(rest), min(rows, columns)))
    with np.errstate(all="ignore"):
        for k in range(factors.shape[1]):
            first, below = rest[:, k, k], rest[:, k + 1:, k]
            x, y = np.abs(first), np.sqrt((below ** 2).sum(1))
            large, small = np.where(x > y, x, y), np.where(x < y, x, y)  # a NaN in x alone is passed over
            length = large * np.sqrt(1 + (small / large) ** 2)
            none, result = y == 0, np.where(first >= 0, -length, length)
            factors[:, k] = np.where(none, 0, (result - first) / result)
            vector = np.where(none[:, None], below, below * (1 / (first - result))[:, None])
            result = np.where(none, first, result)
            whole = np.concatenate([np.ones((len(rest), 1)), vector], 1)
            later = rest[:, k:, k + 1:]
            later -= factors[:, k, None, None] * whole[:, :, None] * (whole[:, None] @ later)
            rest[:, k, k], rest[:, k + 1:, k] = result, vector
    return rest.reshape(a.shape), factors.reshape(*a.shape[:-2], factors.shape[1])


def _up_to_last(mask):
    """True up to the last True of the last axis."""
    return np.logical_or.accumulate(mask[..., ::-1], -1)[..., ::-1]


def _generated(packed, factors, columns):
    """The first columns of the product of the reflectors in `packed`, as LAPACK's org2r has them: neither a factor of zero,
    nor the zeros that end a reflector, nor the columns of zeros that end what it meets, take part."""
    rows, count = packed.shape[-2], factors.shape[-1]
    q = np.zeros((*packed.shape[:-2], rows, columns))
    q[..., range(count, columns), range(count, columns)] = 1
    with np.errstate(all="ignore"):
        for k in reversed(range(count)):
            vector = np.concatenate([np.ones((*packed.shape[:-2], 1)), packed[..., k + 1:, k]], -1)
            factor, later = factors[..., k, None, None], q[..., k:, k + 1:]
            rows_met = _up_to_last(vector != 0)[..., None]
            columns_met = _up_to_last((rows_met & (later != 0)).any(-2))[..., None, :]
            column = vector[..., None]
            change = factor * column * np.where(rows_met, column * later, 0).sum(-2, keepdims=True)
            later -= np.where((factor != 0) & rows_met & columns_met, change, 0)
            q[..., k:, k] = -factor[..., 0] * vector
            q[..., k, k] = 1 - factor[..., 0, 0]
    return q


@decomposition(_qr_gradient)
def qr(a, mode):
    """(Q, R); mode: reduced or complete."""
    if np.isfinite(a).all():
        return tuple(np.linalg.qr(a + 0.0, mode))  # without negative zeros, in whose signs PyTorch's LAPACK sees none
    packed, factors = _reflectors(a)
    columns = a.shape[-2] if mode == "complete" else factors.shape[-1]
    return _generated(packed, factors, columns), np.triu(packed[..., :columns, :])


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
        vh = transposed(u)
    else:
        u, values, vh = _svd_arrays(a, False)
    size = np.abs(values)
    limit = cutoff(size.max(-1, keepdims=True)) if size.shape[-1] else 0.0
    inverse = np.where(size > limit, 1 / np.where(size > limit, values, 1), 0)
    return transposed(vh) * inverse[..., None, :] @ transposed(u)


def raw_qr(a: Tensor):
    """(reflectors below R, their factors tau) as LAPACK's geqrf leaves them; no gradient."""
    numbers = a.detach().double().numpy() + 0.0  # see `qr`
    if np.isfinite(numbers).all():
        packed, tau = np.linalg.qr(numbers, "raw")
        packed = transposed(packed)
    else:
        packed, tau = _reflectors(numbers)
    return by_columns(packed).to(a.dtype), weir.from_numpy(np.array(tau, order="C")).to(a.dtype)


def first_bad_minor(a: Tensor) -> Tensor:
    """The order of the first leading minor that is not positive-definite, 0 where there is none, int32. Shape: a's batch."""
    return weir.from_numpy(_bordered(a.detach().numpy())[1])
