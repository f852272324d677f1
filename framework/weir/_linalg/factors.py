"""torch.linalg's factors in LAPACK's packed forms: LU with its pivots, QR as reflectors. All take batches, shape (*, m, n)."""

from collections import namedtuple

import weir
from weir._C import Tensor

from .._composites._register import autocast_as, with_out, without_derivative
from .._composites.reduction import with_absent_gradient, without_gradient
from . import lapack as _lapack
from . import lu as _lu
from .functions import _float, _matrices, _rounding, column_major, out_exact, svd

_LU, _Factored = namedtuple("linalg_lu", ("P", "L", "U")), namedtuple("lu_factor", ("LU", "pivots"))
_FactoredEx, _Geqrf = namedtuple("lu_factor_ex", ("LU", "pivots", "info")), namedtuple("geqrf", ("a", "tau"))


def _packed(L, U):
    lower, shape = L.tril(-1), (*L.shape[:-1], U.shape[-1])
    if L.shape[-1] < shape[-1]:
        lower = weir.cat([lower, weir.zeros(*shape[:-1], shape[-1] - L.shape[-1], dtype=L.dtype)], -1)
    if U.shape[-2] < shape[-2]:
        U = weir.cat([U, weir.zeros(*shape[:-2], shape[-2] - U.shape[-2], shape[-1], dtype=U.dtype)], -2)
    return column_major(lower + U)


def _need_pivot(name, pivot):
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


@out_exact
def lu_factor(A, *, pivot=True):
    """(LU, pivots): L below the diagonal and U above in one matrix, and the rows exchanged, from 1, int32."""
    _need_pivot("linalg.lu_factor", pivot or not A.numel())
    dtype = _rounding(_matrices("lu_factor", A))
    return _Factored(_packed(*_lu.lu(A, dtype=dtype)), _lu.pivots(A, dtype))


@out_exact
def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """lu_factor's results and info, which is the place of the first zero on U's diagonal, or 0."""
    LU, swaps = lu_factor(A, pivot=pivot)
    zero = (LU.detach().diagonal(dim1=-2, dim2=-1) == 0).to(weir.int32)
    info = (zero.argmax(-1) + 1) * zero.amax(-1) if zero.shape[-1] else weir.zeros(A.shape[:-2], dtype=weir.int64)
    return _FactoredEx(LU, swaps, info.to(weir.int32))


@out_exact
def lu(A, *, pivot=True):
    """(P, L, U) with A = P L U."""
    _need_pivot("linalg.lu", pivot or not A.numel())
    dtype = _rounding(_matrices("lu", A))
    P = _lu.permutation(_lu.pivots(A, dtype), A.shape[-2], A.dtype) if pivot else A.new_empty(0)
    L, U = _lu.lu(A, dtype=dtype)
    return _LU(P, L.contiguous(), U.contiguous())


@out_exact
def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """X with A X = B, for A in lu_factor's form; A^T with `adjoint`, X A = B without `left`."""
    _float("lu_solve", LU)
    if pivots.dtype != weir.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    pivots.size(-1)  # raises for a number
    for label, x in (("LU", LU), ("B", B)):
        if x.dim() < 2:
            raise RuntimeError(f"linalg.lu_solve: {label} must have at least 2 dimensions")
    if LU.shape[-1] != LU.shape[-2] or pivots.shape[-1:] != LU.shape[-1:]:
        raise RuntimeError("linalg.lu_solve: LU must be square, with a pivot per row")
    if not left:
        return lu_solve(LU, pivots, B.mT, adjoint=not adjoint).mT
    if LU.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B ({LU.shape[-2]}x"
                           f"{LU.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    batch = weir.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    LU, B = LU.expand(*batch, *LU.shape[-2:]), B.expand(*batch, *B.shape[-2:])
    P = _lu.permutation(pivots, LU.shape[-1], weir.bool).expand(LU.shape)
    return _lu.lu_solve(LU, B, permutation=P, adjoint=adjoint)


@out_exact
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """(P, L, U) from lu_factor's results; what is not asked for is empty."""
    if LU_data.dim() < 2:
        if LU_data.requires_grad:
            LU_data.size(-2)  # raises: what PyTorch records asks for this size first
        raise RuntimeError(f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} instead")
    if unpack_pivots and LU_pivots.dtype != weir.int32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.")
    none, k = LU_data.new_empty(0), min(LU_data.shape[-2:])
    P = _lu.permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else none
    if not unpack_data:
        return _LU(P, none, none)
    lower = LU_data[..., :k].tril(-1)
    return _LU(P, lower + weir.eye(*lower.shape[-2:], dtype=lower.dtype), LU_data[..., :k, :].triu())


def old_lu(A, pivot=True, get_infos=False, out=None):
    """(LU, pivots), and info with get_infos: the form before torch.linalg."""
    LU, swaps, info = lu_factor_ex(A, pivot=pivot)
    return (LU, swaps, info) if get_infos else (LU, swaps)


@out_exact
@autocast_as("float32")
def old_lu_solve(b, LU_data, LU_pivots):
    """X with A X = b: the form before torch.linalg."""
    return lu_solve(LU_data, LU_pivots, b)


@with_out
@autocast_as("float32")
def geqrf(input):
    """(a, tau): R in the upper triangle, the reflectors of Q below it, and their factors. No gradient."""
    return _Geqrf(*without_derivative("geqrf", _lapack.raw_qr, _matrices("geqrf", input)))


def _reflected(A, tau, B, indices):
    """The product of the reflectors I - tau_i v_i v_i^T, first to last in `indices`, with B; v_i are A's columns."""
    vectors = A.tril(-1) + weir.eye(*A.shape[-2:], dtype=A.dtype)
    for i in reversed(list(indices)):
        v, met = vectors[..., i:, i:i + 1], B[..., i:, :]  # rows above are not touched, whatever they hold
        B = weir.cat([B[..., :i, :], met - tau[..., i, None, None] * v @ (v.mT @ met)], -2)
    return B


@with_out
@autocast_as("float32")
def householder_product(A, tau):
    """The first columns of the product of the reflectors in A and tau, as geqrf gives them. Shape: as A."""
    tau.size(-1)  # raises for a number, before anything else is looked at, as in PyTorch
    _matrices("householder_product", A)
    if tau.dim() != A.dim() - 1:
        raise RuntimeError(f"linalg.householder_product: Expected tau to have one dimension less than input, but got tau.ndim "
                           f"equal to {tau.dim()} and input.ndim is equal to {A.dim()}")
    if A.shape[-2] < A.shape[-1] or tau.shape[-1] > A.shape[-1]:
        raise RuntimeError("linalg.householder_product: A must have at least as many rows as columns, and columns as tau has "
                           f"elements, got {list(A.shape)} and {list(tau.shape)}")
    eye, count = weir.eye(*A.shape[-2:], dtype=A.dtype).expand(A.shape), tau.shape[-1]
    if not count:
        return column_major(with_absent_gradient(eye, A, tau))
    vectors, Q = A.tril(-1) + eye, eye[..., count:, count:]
    for i in reversed(range(count)):  # each reflector meets the columns that are there, and one of the identity
        v, factor = vectors[..., i:, i:i + 1], tau[..., i, None, None]
        Q = weir.nn.functional.pad(Q, (0, 0, 1, 0))
        Q = weir.cat([eye[..., i:, i:i + 1] - factor * v, Q - factor * v @ (v.mT @ Q)], -1)
    return column_major(Q)


@out_exact
@autocast_as("float32")
def ormqr(input, tau, other, left=True, transpose=False):
    """Q other (Q^T with `transpose`; other Q without `left`) for the reflectors of Q in input and tau."""
    rows = other.shape[-2 if left else -1] if other.dim() >= 2 else -1
    if input.dim() < 2 or other.dim() < 2:
        raise RuntimeError("torch.ormqr: input and other must have at least 2 dimensions.")
    if tau.shape[-1] > input.shape[-1] or tau.shape[-1] > rows:
        raise RuntimeError("torch.ormqr: other.shape[-2 if left else -1] must be greater than or equal to tau.shape[-1]")
    if input.shape[-2] != rows:
        raise RuntimeError("torch.ormqr: other.shape[-2 if left else -1] must be equal to input.shape[-2]")
    if input.dim() - tau.dim() != 1 or input.dim() != other.dim() or input.shape[:-2] != other.shape[:-2] or (
            tau.shape[:-1] != input.shape[:-2]):
        raise RuntimeError("torch.ormqr: input, tau and other must have the same batch dimensions")
    if not input.dtype == tau.dtype == other.dtype:
        raise RuntimeError("torch.ormqr: input, tau and other must have the same dtype")
    if other.numel() == 0:
        if tau.numel() == 0:
            return column_major(other + with_absent_gradient(weir.zeros_like(other), input, tau))
        return without_gradient(without_gradient(column_major(other), input.sum()), tau.sum())
    wide, order = (other if left else other.mT), range(tau.shape[-1])
    result = _reflected(input, tau, wide, order if transpose != left else reversed(order))
    return column_major(result if left else result.mT)


def svd_lowrank(A: Tensor, q=6, niter=2, M=None):
    """(U, S, V) of the q largest singular values of A - M. Exact, where PyTorch approximates with niter random products."""
    U, S, Vh = svd(A if M is None else A - M, full_matrices=False)
    return U[..., :q], S[..., :q], Vh[..., :q, :].mT


def pca_lowrank(A: Tensor, q=None, center=True, niter=2):
    """svd_lowrank of A, less its columns' means when `center`. ValueError unless 0 <= q <= min(m, n), default at most 6."""
    q = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= q <= min(A.shape[-2:]):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(A.shape[-2:])}")
    return svd_lowrank(A - A.mean(-2, True) if center else A, q, niter)


#: What torch and Tensor call these functions, besides torch.linalg.
old_names = dict(lu=old_lu, lu_solve=old_lu_solve, lu_unpack=lu_unpack, geqrf=geqrf, ormqr=ormqr, orgqr=householder_product,
                 svd_lowrank=svd_lowrank, pca_lowrank=pca_lowrank)
