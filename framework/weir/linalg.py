"""torch.linalg: the core's ops under their own names, and what is written over them."""

import functools
import math

import weir
from weir import _C
from weir._C import Tensor

from ._composites._check import inexact
from ._composites._register import OUT_EXACT, autocast_as, functions, methods, with_out
from ._composites.reduction import vector_norm as _vector_norm
from ._composites.reduction import widened
from ._composites.shape import wrapped_dim

LinAlgError = _C._LinAlgError
_hidden = _C.ops["hidden"]
vector_norm = _vector_norm
globals().update({k.removeprefix("linalg_"): v for k, v in _C.ops["linalg"].items()})

#: Most take `out` of exactly the result's dtype.
out_exact = functools.partial(with_out, rule=OUT_EXACT)


def _inexact(name, x):
    """x, when it is a tensor of floating-point or complex numbers. Raises TypeError or RuntimeError otherwise."""
    if not isinstance(x, Tensor):
        raise TypeError(f"linalg.{name}(): argument 'A' must be Tensor, not {type(x).__name__}")
    if not inexact(x):
        raise RuntimeError(f"linalg.{name}: Expected a floating point or complex tensor as input. Got {x.dtype}")
    return x


def _matrices(name, A):
    empty = isinstance(A, Tensor) and A.numel() == 0 and name != "pinv"  # PyTorch looks at no dtype then
    if (A if empty else _inexact(name, A)).dim() < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    return A


def _tolerances(name, A, atol, rtol):
    """(atol, rtol) as float64 tensors that broadcast to A's batch, or A's batch to them: rtol is eps max(m, n) where atol is not positive, unless given."""
    def tolerance(x):
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(f"linalg.{name}: tolerances must be real, got {x.dtype}")
        return x.detach().double() if isinstance(x, Tensor) else weir.tensor(float(x), dtype=weir.float64)

    absolute = tolerance(0.0 if atol is None else atol)
    if rtol is None:
        default = weir.finfo(A.dtype).eps * max(A.shape[-2:])
        return absolute, weir.where(absolute > 0, 0.0, weir.full_like(absolute, default))
    return absolute, tolerance(rtol)


def _pinv_recorded(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """Whether a call with `out` ends in a copy: that without tolerances, and that with tensors, writes into it itself."""
    return rcond is not None or any(x is not None and not isinstance(x, Tensor) for x in (atol, rtol))


@functools.partial(with_out, recorded=_pinv_recorded)
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None):
    """The pseudo-inverse: (*, m, n) -> (*, n, m). Singular values up to max(atol, rtol * the largest) count as 0; rtol is
    max(m, n) * eps by default."""
    if A.dim() < 2 and any(x is not None and not isinstance(x, Tensor) for x in (atol, rtol)):
        raise IndexError(f"linalg.pinv: Dimension out of range for a tensor of {A.dim()} axes, -2")
    _matrices("pinv", A)
    if A.dtype in (weir.float16, weir.bfloat16):  # under autocast too, whose list names pinverse only
        raise RuntimeError(f"linalg.pinv({A.dtype}{list(A.shape)}): expected a tensor with 2 or more dimensions of float, double, cfloat or "
                           "cdouble types")
    for name, given in (("atol", atol), ("rtol", rcond if rtol is None else rtol)):
        if isinstance(given, Tensor) and given.requires_grad:
            raise RuntimeError(f"linalg.pinv is not differentiable with respect to argument '{name}'. This input cannot have "
                               "requires_grad True.")
    absolute, relative = _tolerances("pinv", A, atol, rcond if rtol is None else rtol)
    if A.numel() == 0:  # tolerances need not fit then
        absolute, relative = absolute.new_zeros(A.shape[:-2]), relative.new_zeros(A.shape[:-2])
    batch = weir.broadcast_shapes(A.shape[:-2], absolute.shape, relative.shape)
    A = A if batch == A.shape[:-2] else A.expand(*batch, *A.shape[-2:])
    result = _hidden["pinv_parts"](A, absolute.expand(batch), relative.expand(batch), hermitian)
    # The last step is a product in PyTorch, which autocast runs low.
    return result.to(_C._autocast_dtype()) if weir.is_autocast_enabled() and A.dtype == weir.float32 else result


@with_out
@autocast_as("float32")
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None):
    """How many singular values exceed max(atol, rtol * the largest), int64. Shape: A's batch."""
    _matrices("matrix_rank", A)
    for name, given in (("atol", atol if tol is None else tol), ("rtol", rtol)):
        if isinstance(given, Tensor) and given.is_complex():
            raise RuntimeError(f"torch.linalg.matrix_rank: {name} tensor of complex type is not supported. Got {given.dtype}")
    if tol is None and rtol is None and not inexact(A):  # the tolerance is a multiple of eps
        raise RuntimeError(f"linalg.matrix_rank: This function doesn't handle types other than float and double, got {A.dtype}")
    if A.numel() == 0:
        return weir.zeros(A.shape[:-2], dtype=weir.int64)
    A = A.detach()
    values = weir.linalg.eigvalsh(A).abs() if hermitian else weir.linalg.svdvals(A)
    absolute, relative = _tolerances("matrix_rank", A, *((atol, rtol) if tol is None else (tol, 0.0)))
    limit = weir.maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * values.amax(-1, True).double())
    return (values > limit.to(values.dtype)).to(weir.int64).sum(-1)


@functools.partial(with_out, recorded=True)
@autocast_as("float32")
def cond(A, p=None):
    """The condition number |A| |A^-1| in the norm `p` (default 2), real. Shape: A's batch. inf for a singular A."""
    _matrices("cond", A)
    if A.numel() == 0:
        return weir.zeros(A.shape[:-2], dtype=A.real.dtype if A.is_complex() else A.dtype)
    if p in (None, 2, -2):
        values = weir.linalg.svdvals(A)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.cond: with p={p} A must be batches of square matrices")
    if p == "nuc":
        values = weir.linalg.svdvals(A)
        return values.sum(-1) * values.reciprocal().sum(-1)
    inverse, info = weir.linalg.inv_ex(A)
    result = weir.linalg.matrix_norm(A, p) * weir.linalg.matrix_norm(inverse, p)
    return result.masked_fill((info != 0) | weir.isnan(result), math.inf)


@functools.partial(out_exact, recorded=True)
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """The norm of matrices: 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2. Shape: without the two axes."""
    _inexact("matrix_norm", A)
    if A.dtype in (weir.float16, weir.bfloat16) and ord in (2, -2, "nuc"):  # what singular values give
        raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {A.dtype}")
    if A.dim() < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if not isinstance(dim, (tuple, list)) or len(dim) != 2:
        raise RuntimeError("linalg.matrix_norm: dim must be a 2-tuple. Got " + str(dim))
    a, b = (wrapped_dim(A, d) for d in dim)
    if a == b:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    A = A if dtype is None else widened("linalg.matrix_norm", A, dtype)
    if ord == "fro":
        return vector_norm(A, 2, (a, b), keepdim)
    if ord in ("nuc", 2, -2):
        values = weir.linalg.svdvals(A.movedim((a, b), (-2, -1)))
        if ord == 2 and not values.shape[-1]:
            result = weir.zeros_like(values.detach().sum(-1))  # over nothing the largest is 0
        else:
            result = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        return result.unsqueeze(min(a, b)).unsqueeze(max(a, b)) if keepdim else result
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed, reduced = (a, b) if abs(ord) == 1 else (b, a)
    sums = A.abs().sum(summed, True)
    if ord > 0 and not sums.shape[reduced]:
        return weir.zeros_like(A.detach().sum((a, b), keepdim))  # over nothing the largest sum is 0
    result = sums.amax(reduced, True) if ord > 0 else sums.amin(reduced, True)
    return result if keepdim else result.squeeze((a, b))


@functools.partial(out_exact, recorded=True)
def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None):
    """vector_norm or matrix_norm, by the number of axes. Source: torch.linalg.norm."""
    _inexact("norm", A)
    if dim is not None:
        dim = (dim,) if isinstance(dim, int) else tuple(dim)
        if len(dim) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    elif ord is not None and A.dim() not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{A.dim()}D.")
    if ord is not None and (len(dim) if dim is not None else A.dim()) == 2:
        result = matrix_norm(A, ord, (0, 1) if dim is None else dim, keepdim, dtype=dtype)
    else:
        if isinstance(ord, str):
            raise RuntimeError(f"linalg.norm: order {ord} needs a matrix")
        result = vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return result


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of the last two axes, a view."""
    return A.diagonal(offset, dim1, dim2)


@with_out
def matmul(input, other):
    """As weir.matmul."""
    return input @ other


def matrix_power(A, n, *, out=None):
    """A multiplied n times with itself; the inverse's power for negative n. Written to `out`, the power 0 is a constant."""
    if out is not None and isinstance(out, Tensor) and n not in (0, 1) and out.dtype != A.dtype:  # what a product writes to
        raise RuntimeError(f"linalg.matrix_power: Expected out tensor to have dtype {A.dtype}, but got {out.dtype} instead")
    return _matrix_power(A.detach() if out is not None and n == 0 else A, n, out=out)


def _power_recorded(A, n):
    """Whether a call with `out` ends in a copy: all others end in a product or an inverse that is written into it."""
    n = abs(n) if n != -1 else 2
    return n == 1 or (n > 2 and n & (n - 1) == 0)


@functools.partial(with_out, recorded=_power_recorded)
def _matrix_power(A, n):
    """A multiplied n times with itself; the inverse's power for negative n."""
    if n < 0:
        _inexact("matrix_power", A)
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"linalg.matrix_power: A must be batches of square matrices, but they are {A.shape[-2:]} matrices")
    if n < 0:
        return _matrix_power(weir.linalg.inv(A), -n)
    if n == 0:  # a constant that depends on A, as in PyTorch
        return weir.eye(A.shape[-1], dtype=A.dtype).expand(A.shape) + A.masked_fill(weir.ones_like(A, dtype=weir.bool), 0)
    if n == 1:
        return A.clone(memory_format=weir.contiguous_format)
    if n == 3:  # the one order that is not that of the bits, as in PyTorch: infinities show the difference
        return A @ A @ A
    result, square = None, A
    while n:
        if n & 1:
            result = square if result is None else result @ square
        n >>= 1
        square = square @ square if n else square
    return result


def _lu(A, pivot=True, get_infos=False, out=None):
    """(LU, pivots), and info with get_infos: the form before torch.linalg."""
    LU, pivots, info = weir.linalg.lu_factor_ex(A, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


def _svd_lowrank(A: Tensor, q=6, niter=2, M=None):
    """(U, S, V) of the q largest singular values of A - M. Exact, where PyTorch approximates with niter random products."""
    U, S, Vh = weir.linalg.svd(A if M is None else A - M, full_matrices=False)
    return U[..., :q], S[..., :q], Vh[..., :q, :].mH


def _pca_lowrank(A: Tensor, q=None, center=True, niter=2):
    """svd_lowrank of A, less its columns' means when `center`. ValueError unless 0 <= q <= min(m, n), default at most 6."""
    q = min(6, *A.shape[-2:]) if q is None else q
    if not 0 <= q <= min(A.shape[-2:]):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(A.shape[-2:])}")
    return _svd_lowrank(A - A.mean(-2, True) if center else A, q, niter)


#: What torch and Tensor call these functions, besides torch.linalg.
_old_names = dict(matrix_power=matrix_power, pinverse=autocast_as("float32")(pinv), lu=_lu, svd_lowrank=_svd_lowrank,
                  pca_lowrank=_pca_lowrank)
functions.update(_old_names)
methods.update(_old_names)
