"""torch.linalg over the decompositions of lapack.py: inverses, solutions, factors and spectra, and their old names.

All take batches, shape (*, m, n), of float32 or float64. RuntimeError for another dtype or shape.
"""

import functools
import math
from collections import namedtuple

import weir
from weir import _C
from weir._C import Tensor

from .._composites._register import OUT_EXACT, autocast_as, with_out, without_derivative
from .._composites.reduction import without_gradient
from .._composites.shape import wrapped_dim
from .._lazy import np
from . import lapack as _lapack
from . import lstsq as _lstsq
from . import lu as _lu
from . import matrix_exp as _matrix_exp
from .decomposition import LinAlgError


#: PyTorch looks at the dtype of an empty input in none of these.
_EMPTY_OF_ANY_DTYPE = ("cond", "eigh", "lu", "lu_factor", "matrix_rank", "old_cholesky")


#: Most take `out` of exactly the result's dtype.
out_exact = functools.partial(with_out, rule=OUT_EXACT)


def _float(name, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"linalg.{name}(): argument 'A' must be Tensor, not {type(x).__name__}")
    if not x.is_floating_point() and (x.numel() or name not in _EMPTY_OF_ANY_DTYPE):
        raise RuntimeError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {x.dtype}")
    return x

def _inexact(name, x):
    """x, when it is a tensor of floating-point or complex numbers. Raises TypeError or RuntimeError otherwise."""
    if not isinstance(x, Tensor) or not x.is_complex():
        _float(name, x)
    return x


def _matrices(name, A, square=False):
    """A, when it is a floating-point batch of (square) matrices. Raises RuntimeError otherwise."""
    _float(name, A)
    if A.dtype in (weir.float16, weir.bfloat16) and A.numel():
        raise RuntimeError(f"linalg.{name}: not implemented for {A.dtype}")
    if A.dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    if square and A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.{name}: A must be batches of square matrices, but they are {A.shape[-2]} by "
                           f"{A.shape[-1]} matrices")
    return A


def column_major(A):
    """A copy of A whose columns lie together, as LAPACK has matrices."""
    return A.mT.clone(memory_format=weir.contiguous_format).mT


def _fields(name, *fields):
    return namedtuple(f"linalg_{name}", fields)


def _rounding(A):
    """The dtype, by name, whose rounding decides what of A is singular."""
    return A.dtype.name if A.dtype in (weir.float32, weir.float64) else "float64"


def _elimination(A):
    """How PyTorch runs LU for A, as options of _lapack: a matrix that lies row by row is its transpose to LAPACK."""
    return {"dtype": _rounding(A), "turned": A.is_contiguous()}


def _no_error(A):
    """LAPACK's info of a decomposition that went well, per matrix."""
    return weir.zeros(A.shape[:-2], dtype=weir.int32)


_Inverse, _Factor = _fields("inv_ex", "inverse", "info"), _fields("cholesky_ex", "L", "info")
_Slogdet, _Solve = _fields("slogdet", "sign", "logabsdet"), _fields("solve_ex", "result", "info")
_Eigh, _QR = _fields("eigh", "eigenvalues", "eigenvectors"), _fields("qr", "Q", "R")
_SVD, _OldSVD = _fields("svd", "U", "S", "Vh"), _fields("svd", "U", "S", "V")
_Lstsq = _fields("lstsq", "solution", "residuals", "rank", "singular_values")
_TriangularSolve = _fields("triangular_solve", "solution", "cloned_coefficient")


@out_exact
@autocast_as("float32")
def inv(A):
    """The inverses of square matrices. Shape: as A. Raises LinAlgError for a singular one."""
    return _lu.inv(_matrices("inv", A, square=True), dtype=_rounding(A))


@out_exact
@autocast_as("float32")
def inv_ex(A, *, check_errors=False):
    """(inverse, info): info is the place of the first zero pivot, or 0, and divides where it is found.
    Raises LinAlgError for one when check_errors."""
    _matrices("inv_ex", A, square=True)
    if not A.numel() or check_errors:
        return _Inverse(inv(A), _no_error(A))
    return _Inverse(_lu.inv(A, dtype=_rounding(A), lax=True), _lu.first_zero_pivot(A, _rounding(A)))


@out_exact
@autocast_as("float32")
def solve(A, B, *, left=True):
    """X with A X = B, or X A = B without `left`. B: matrices, or vectors of A's batch. Raises LinAlgError for a singular A."""
    return _solve(A, B, left)


def _solve(A, B, left, lax=False):
    _matrices("solve", A, square=True)
    _float("solve", B)
    if A.dtype != B.dtype:
        raise RuntimeError(f"linalg.solve: Expected A and B to have the same dtype, but found {A.dtype} and {B.dtype}")
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and A.shape[:-1] == B.shape)
    B = B.unsqueeze(-1) if vector else B
    if vector and not left:
        raise RuntimeError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False.")
    if A.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
                           f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    batch = weir.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    A, B = A.expand(*batch, *A.shape[-2:]), B.expand(*batch, *B.shape[-2:])
    X = _lu.solve(A if left else A.mT, B if left else B.mT, dtype=_rounding(A), turned=not left, lax=lax)
    if not left:
        return X.mT
    if not vector:
        return X
    X = X.squeeze(-1)
    return column_major(X) if X.dim() > 1 else X  # laid out as if the vectors were a matrix


@out_exact
def solve_ex(A, B, *, left=True, check_errors=False):
    """(solution, info): info is the place of the first zero pivot, or 0, and divides where it is found.
    Raises LinAlgError for one when check_errors."""
    _matrices("solve_ex", A, square=True)
    if not A.numel() or check_errors:
        return _Solve(solve(A, B, left=left), _no_error(A))
    return _Solve(_solve(A, B, left, lax=True), _lu.first_zero_pivot(A, _rounding(A)))


@out_exact
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """X with A X = B (X A = B without `left`) for triangular A, of which the other half is not read."""
    _matrices("solve_triangular", A, square=True)
    if left and B.dim() >= 2 and A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B ({A.shape[-2]}x"
                           f"{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    A = A.triu() if upper else A.tril()
    if unitriangular:
        A = weir.where(weir.eye(A.shape[-1], dtype=weir.bool), weir.ones_like(A), A)
    if not left:
        return column_major(solve_triangular(A.mT, B.mT, upper=not upper).mT)
    batch = weir.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    return _lu.substitute(A.expand(*batch, *A.shape[-2:]), B.expand(*batch, *B.shape[-2:]), upper=upper)


@out_exact
def slogdet(A):
    """(sign, log |det A|) of square matrices; (0, -inf) for a singular one. Shapes: A's batch."""
    return _Slogdet(*_lapack.slogdet(_matrices("slogdet", A, square=True), **_elimination(A)))


@out_exact
def det(A):
    """The determinants of square matrices. Shape: A's batch."""
    return _lapack.det(_matrices("det", A, square=True), **_elimination(A))


@out_exact
@autocast_as("float32")
def cholesky(A, *, upper=False):
    """The lower L with A = L L^T (or its transpose, with `upper`). Raises LinAlgError unless A is positive-definite."""
    _matrices("cholesky", A, square=True)
    return column_major(_lapack.cholesky(A.mT).mT) if upper else _lapack.cholesky(A)


@out_exact
@autocast_as("float32")
def cholesky_ex(A, *, upper=False, check_errors=False):
    """(L, info): info is the order of the first leading minor that is not positive-definite, or 0; L is unfinished
    then. Raises LinAlgError for one when check_errors."""
    _matrices("cholesky_ex", A, square=True)
    if not A.numel() or check_errors:
        return _Factor(cholesky(A, upper=upper), _no_error(A))
    wide = A.mT if upper else A
    info = _lapack.first_bad_minor(wide)
    ordinary = not bool((info > 0).any()) and bool(weir.isfinite(wide.detach().tril()).all())
    L = _lapack.cholesky(wide, lax=None if ordinary else A.dtype.name)
    return _Factor(column_major(L.mT) if upper else L, info)


@out_exact
@autocast_as("float32")
def eigh(A, UPLO="L"):
    """(values in rising order, vectors as columns) of symmetric matrices, of which only the UPLO triangle is read."""
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return _Eigh(*_lapack.eigh(_matrices("eigh", A, square=True), uplo=UPLO.upper()))


@out_exact
@autocast_as("float32")
def eigvalsh(A, UPLO="L"):
    """The eigenvalues of symmetric matrices, in rising order. Raises LinAlgError as eigh, and for infinities on the diagonal
    but at its ends, where LAPACK's iteration without vectors gives up."""
    values = eigh(A, UPLO)[0]
    if bool(weir.isinf(A.detach().diagonal(dim1=-2, dim2=-1)[..., 1:-1]).any()):
        raise LinAlgError("linalg.eigh: The algorithm failed to converge because the input matrix contained non-finite values.")
    return values


@out_exact
@autocast_as("float32")
def svd(A, full_matrices=True, *, driver=None):
    """(U, S, Vh) with A = U diag(S) Vh and S falling. Shapes: (*, m, m), (*, k), (*, n, n), with k = min(m, n); both
    squares are (*, m, k) and (*, k, n) without full_matrices."""
    if driver is not None and A.numel():
        raise RuntimeError("linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
    return _SVD(*_lapack.svd(_matrices("svd", A), full_matrices=full_matrices))


@out_exact
@autocast_as("float32")
def svdvals(A, *, driver=None):
    """The singular values of A, falling. Shape: (*, min(m, n))."""
    return svd(A, full_matrices=False, driver=driver)[1]


@out_exact
@autocast_as("float32")
def qr(A, mode="reduced"):
    """(Q, R) with orthonormal columns in Q and upper triangular R; mode: reduced, complete, or r for an empty Q."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    _matrices("qr", A)
    if mode == "r":
        return _QR(*without_derivative("linalg.qr with mode='r'", lambda a: (a.new_empty(0), _lapack.qr(a, mode="reduced")[1]), A))
    return _QR(*_lapack.qr(A, mode=mode))


def _cutoff(A, atol, rtol):
    """A function of the largest singular value: up to where singular values count as 0. Without rtol it is eps max(m, n)
    where atol is not positive. Source: torch.linalg.matrix_rank."""
    value = lambda x: None if x is None else x.detach().double().numpy()[..., None] if isinstance(x, Tensor) else x  # noqa: E731
    atol, rtol = value(0.0 if atol is None else atol), value(rtol)
    if rtol is None:
        rtol = np.where(np.greater(atol, 0), 0.0, weir.finfo(A.dtype).eps * max(A.shape[-2:]))

    def limit(largest):
        try:
            return np.maximum(atol, rtol * largest)
        except ValueError as error:
            raise RuntimeError(f"The sizes of the tolerances do not fit the input's batch: {error}") from None

    return limit


def _pinv_recorded(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """Whether a call with `out` ends in a copy: that without tolerances, and that with tensors, writes into it itself."""
    return rcond is not None or any(x is not None and not isinstance(x, Tensor) for x in (atol, rtol))


@functools.partial(with_out, recorded=_pinv_recorded)
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudo-inverse: (*, m, n) -> (*, n, m). Singular values up to max(atol, rtol * the largest) count as 0; rtol is
    max(m, n) * eps by default."""
    _matrices("pinv", A, square=hermitian and A.numel() > 0)
    rtol = rcond if rtol is None else rtol
    for name, given in (("atol", atol), ("rtol", rtol)):
        if isinstance(given, Tensor) and given.requires_grad:
            raise RuntimeError(f"linalg.pinv is not differentiable with respect to argument '{name}'. This input cannot have "
                               "requires_grad True.")
    if A.numel() == 0:
        result = A.mT.clone()
    else:
        result = _lapack.pinv(A, cutoff=_cutoff(A, atol, rtol), hermitian=hermitian).contiguous()
    # The last step is a product in PyTorch, which autocast runs low.
    return result.to(_C._autocast_dtype()) if weir.is_autocast_enabled() and A.dtype == weir.float32 else result


@with_out
@autocast_as("float32")
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    """How many singular values exceed max(atol, rtol * the largest), int64. Shape: A's batch."""
    if tol is None and rtol is None and A.dtype not in (weir.float32, weir.float64):  # of which the tolerance is a multiple of eps
        raise RuntimeError(f"linalg.matrix_rank: This function doesn't handle types other than float and double, got {A.dtype}")
    _matrices("matrix_rank", A, square=hermitian and A.numel() > 0)
    if A.numel() == 0:
        return weir.zeros(A.shape[:-2], dtype=weir.int64)
    A = A.detach()
    values = eigvalsh(A).abs() if hermitian else svdvals(A)
    if values.numel() == 0:
        return weir.zeros(A.shape[:-2], dtype=weir.int64)
    if tol is not None:
        atol, rtol = tol, 0.0
    limit = _cutoff(A, atol, rtol)(values.amax(-1, True).double().numpy())
    return (values > weir.from_numpy(np.asarray(limit)).to(values.dtype)).to(weir.int64).sum(-1)


@functools.partial(with_out, recorded=True)
@autocast_as("float32")
def cond(A, p=None):
    """The condition number |A| |A^-1| in the norm `p` (default 2). Shape: A's batch. inf for a singular A."""
    _matrices("cond", A)
    if A.numel() == 0:
        return weir.zeros(A.shape[:-2], dtype=A.dtype)
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.cond: with p={p} A must be batches of square matrices")
    if p == "nuc":
        values = svdvals(A)
        return values.sum(-1) * values.reciprocal().sum(-1)
    result = weir.linalg.matrix_norm(A, p) * weir.linalg.matrix_norm(inv_ex(A).inverse, p)
    return result.masked_fill(weir.isnan(result), math.inf)


@functools.partial(with_out, recorded=True)
@autocast_as("float32")
def tensorinv(A, ind=2):
    """The inverse of A seen as a matrix of its first `ind` axes by the others. Shape: the others, then the first."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    if ind > A.dim():
        raise RuntimeError(f"linalg.tensorinv: Expected 'ind' to be at most the number of axes, {A.dim()}, but got {ind}")
    rows, columns = A.shape[:ind], A.shape[ind:]
    if math.prod(rows) != math.prod(columns):
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
                           f"{math.prod(columns)} != {math.prod(rows)}")
    return inv(A.reshape(math.prod(rows), math.prod(columns))).reshape(*columns, *rows)


@functools.partial(with_out, recorded=True)
@autocast_as("float32")
def tensorsolve(A, B, dims=None):
    """X with tensordot(A, X, X.dim()) = B; `dims` of A are moved to its end first."""
    if dims is not None:
        for dim in dims:
            wrapped_dim(A, dim)
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    unknown = A.shape[B.dim():]
    if math.prod(unknown) != B.numel():
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim])"
                           f", but got {math.prod(unknown)} != {B.numel()}")
    return solve(A.reshape(B.numel(), B.numel()), B.reshape(-1)).reshape(unknown)


@with_out
@autocast_as("float32")
def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular values) of min |A X - B|. What `driver` (default gelsy) does not compute is empty:
    residuals are for full-rank matrices of more rows than columns, rank for all but gels, values for gelsd and gelss."""
    _matrices("lstsq", A)
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {driver}")
    if A.dtype != B.dtype:
        raise RuntimeError("torch.linalg.lstsq: input.dtype() and other.dtype() must be the same")
    vector = B.dim() == 1 or A.dim() - 1 == B.dim() and A.shape[:-1] == B.shape
    columns = B.unsqueeze(-1) if vector else B
    if A.shape[-2] != columns.shape[-2]:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size(-2), got {A.shape} and {B.shape}")
    if B.numel() and (bool(weir.isnan(A.detach()).any()) or bool(weir.isnan(B.detach()).any())):
        raise RuntimeError("torch.linalg.lstsq: LAPACK takes no NaN")
    limit, tolerance = _lstsq.limit(A, rcond, driver), _lstsq.tolerance(A)
    if driver == "gels":
        rank = weir.empty(0, dtype=weir.int64)
    else:  # without columns to solve for, LAPACK does not look at the matrix
        rank = _lstsq.rank(A, limit, driver) if columns.shape[-1] else weir.zeros(A.shape[:-2], dtype=weir.int64)
    values = svdvals(A.detach()) if driver in ("gelsd", "gelss") else None
    # A B of one axis less than A has its batch counted as if it were one of vectors, even where it is a matrix.
    batch = weir.broadcast_shapes(A.shape[:-2], B.shape[:-1] if B.dim() == A.dim() - 1 else columns.shape[:-2])
    A, columns = A.expand(*batch, *A.shape[-2:]), columns.expand(*batch, *columns.shape[-2:])
    X = _lstsq.lstsq(A, columns, limit=limit, driver=driver, tolerance=tolerance)
    none = X.reshape(-1)[:0]
    residuals = none
    if driver != "gelsy" and A.shape[-2] > A.shape[-1] and (driver == "gels" or bool((rank == A.shape[-1]).all())):
        residuals = ((A @ X - columns) ** 2).sum(-2)
    values = values if values is not None else none.detach()
    if A.shape[-2] > A.shape[-1]:  # the solution stands at the head of a copy of B
        spare = (0, A.shape[-2] - A.shape[-1])
        X = weir.nn.functional.pad(X.mT, spare).mT[..., :A.shape[-1], :]
    return _Lstsq(X.squeeze(-1) if vector else X, residuals, rank, values)


def matrix_exp(A):
    """The exponential of square matrices of any floating dtype. Shape: as A."""
    _float("matrix_exp", A)
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.matrix_exp: A must be batches of square matrices, got shape {list(A.shape)}")
    return _matrix_exp.matrix_exp(A, dtype="float64" if A.dtype == weir.float64 else "float32").contiguous()


@with_out
@autocast_as("float32")
def cholesky_inverse(L, upper=False):
    """The inverse of A from its Cholesky factor."""
    _matrices("cholesky_inverse", L, square=True)
    return _lapack.cholesky_inverse(L.mT if upper else L)


@with_out
@autocast_as("float32")
def cholesky_solve(B, L, upper=False):
    """X with A X = B, for A's Cholesky factor L."""
    if B.dim() < 2 or L.dim() < 2:
        raise RuntimeError(f"b should have at least 2 dimensions, but has {B.dim()} dimensions instead")
    _matrices("cholesky_solve", L, square=True)
    if L.dtype != B.dtype or L.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"cholesky_solve: Incompatible matrices b and L: {B.dtype} of {list(B.shape)} and {L.dtype} of "
                           f"{list(L.shape)}")
    batch = weir.broadcast_shapes(L.shape[:-2], B.shape[:-2])
    L = L.mT if upper else L
    return _lapack.cholesky_solve(B.expand(*batch, *B.shape[-2:]), L.expand(*batch, *L.shape[-2:]))


def logdet(input):
    """log(det A); NaN for a negative determinant."""
    sign, logarithm = slogdet(input)
    return weir.where(sign < 0, weir.full_like(logarithm, math.nan), logarithm)


@out_exact
@autocast_as("float32")
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False):
    """(X, A) with A X = b for triangular A, or A^T X = b."""
    triangle, upper = (A.mT, not upper) if transpose else (A, upper)
    X = solve_triangular(triangle, b, upper=upper, unitriangular=unitriangular)
    return _TriangularSolve(X, without_gradient(column_major(A.expand(*X.shape[:-2], *A.shape[-2:])), b.sum()))


@out_exact
@autocast_as("float32")
def old_svd(input, some=True, compute_uv=True):
    """(U, S, V) with input = U diag(S) V^T: the form before torch.linalg."""
    _matrices("svd", input)
    if not compute_uv:  # whole squares of zeros, whatever `some` says
        zeros = lambda n: weir.zeros(*input.shape[:-2], n, n, dtype=input.dtype)  # noqa: E731
        return _OldSVD(zeros(input.shape[-2]), svdvals(input), zeros(input.shape[-1]).mT)
    U, S, Vh = svd(input, full_matrices=not some)
    return _OldSVD(U, S, Vh.mT)


@out_exact
def old_qr(input, some=True):
    """(Q, R): the form before torch.linalg."""
    return qr(input, "reduced" if some else "complete")


@with_out
@autocast_as("float32")
def old_cholesky(input, upper=False):
    """The Cholesky factor: the form before torch.linalg."""
    if not _matrices("old_cholesky", input, square=True).numel():
        return input.clone()
    return cholesky(input, upper=upper)


#: What torch and Tensor call these functions, besides torch.linalg.
old_names = dict(det=det, slogdet=slogdet, logdet=logdet, inverse=inv, pinverse=autocast_as("float32")(pinv),
                 matrix_exp=matrix_exp,
                 cholesky=old_cholesky, cholesky_inverse=cholesky_inverse, cholesky_solve=cholesky_solve,
                 triangular_solve=triangular_solve, svd=old_svd, qr=old_qr)
