"""Reductions beyond the core's: deviations, NaN-ignoring forms, norms, counts."""

import functools
import math

import weir
from weir._C import Tensor

from ._check import inexact
from ._register import OUT_EXACT, composite
from .shape import wrapped_dim

_norm2 = weir._C.ops["hidden"]["norm2"]


def _axes(dim, rank):
    """dim as a list of axes; all of them for None and ()."""
    if dim is None or (isinstance(dim, (tuple, list)) and len(dim) == 0):
        return list(range(rank))
    return [dim] if isinstance(dim, int) else list(dim)


def safe_sqrt(x):
    """sqrt whose gradient is 0, not inf, at 0: what PyTorch defines for std and norms."""
    zero = x == 0
    return x.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


@composite
def std(input: Tensor, *args, **kwargs):
    """The root of var, with var's arguments."""
    return safe_sqrt(weir.var(input, *args, **kwargs))


def _running_mean(input, dim, keepdim):
    """The mean as PyTorch finds it beside a variance, one by one: NaN after an infinity that is not the last."""
    mean = weir.mean(input, dim, keepdim)
    if bool(weir.isfinite(mean.detach()).all()):
        return mean
    axes = [d % max(input.dim(), 1) for d in _axes(dim, input.dim())]
    kept = [d for d in range(input.dim()) if d not in axes]
    rows = input.detach().permute(kept + sorted(axes)).flatten(len(kept)) if axes else input.detach().unsqueeze(-1)
    before_last = rows[..., :-1].sum(-1).reshape(mean.shape)
    spoiled = weir.zeros_like(before_last).masked_fill(weir.isinf(before_last), math.nan)
    return mean + spoiled  # whose gradient is the mean's


def _mean_arguments(dim=None, unbiased=None, keepdim=False, *, correction=None):
    return (None if isinstance(dim, bool) else dim), keepdim


@composite(method=False)
def var_mean(input: Tensor, *args, **kwargs):
    """(var, mean) over dim."""
    dim, keepdim = _mean_arguments(*args, **kwargs)
    return weir.var(input, *args, **kwargs), _running_mean(input, dim, keepdim)


@composite(method=False)
def std_mean(input: Tensor, *args, **kwargs):
    """(std, mean) over dim."""
    dim, keepdim = _mean_arguments(*args, **kwargs)
    return std(input, *args, **kwargs), _running_mean(input, dim, keepdim)


@composite(out=None)
def nansum(input: Tensor, dim=None, keepdim=False, *, dtype=None, out=None):
    """Sum over dim, NaN counted as 0."""
    if input.is_complex():
        raise RuntimeError("nansum on CPU does not support complex inputs")
    options = {"dtype": dtype} if out is None else {"dtype": dtype, "out": out}
    return weir.where(weir.isnan(input), weir.zeros_like(input), input).sum(dim, keepdim, **options)


@composite(out=None)
def nanmean(input: Tensor, dim=None, keepdim=False, *, dtype=None, out=None):
    """Mean over dim of what is not NaN."""
    if not inexact(input):
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}")
    if dtype is not None and not inexact(dtype):
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
                           f"dtype. Got: {dtype}")
    count = weir.logical_not(weir.isnan(input)).to(weir.int64).sum(dim, keepdim)
    total = nansum(input, dim, keepdim, dtype=dtype, out=out)
    return total / count if out is None else out.div_(count)


@composite
def count_nonzero(input: Tensor, dim=None):
    """How many elements over dim are not zero, int64."""
    nonzero = (input != 0).to(weir.int64)
    return nonzero.sum() if dim is None else nonzero.sum(dim)


@composite(out=OUT_EXACT)
def aminmax(input: Tensor, *, dim=None, keepdim=False):
    """(min, max) over one axis or all."""
    if dim is None:
        if input.numel() == 0:
            raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
        axes = list(range(input.dim()))
    else:
        axes = [dim]
    return weir.amin(input, axes, keepdim), weir.amax(input, axes, keepdim)


def without_gradient(value, source):
    """`value`, which depends on `source` with a derivative of 0 everywhere."""
    return value + source.masked_fill(weir.ones_like(source, dtype=weir.bool), 0).to(value.dtype)


@functools.cache
def _unrelated():
    from ..autograd import Function

    class Unrelated(Function):
        @staticmethod
        def forward(ctx, value, *sources):
            ctx.count = 1 + len(sources)
            return value.clone()

        @staticmethod
        def backward(ctx, grad):
            return (None,) * ctx.count

    return Unrelated


def with_absent_gradient(value, *sources):
    """`value`, which requires grad as `sources` do, and passes none on to them."""
    return _unrelated().apply(value, *sources)


@functools.cache
def _norm_functions():
    """Norms whose gradients are PyTorch's own formulas, also where their parts have none: (order 0, order p)."""
    from ..autograd import Function

    class Count(Function):
        """The norm of order 0; as in PyTorch it is differentiable with an absent gradient."""

        @staticmethod
        def forward(ctx, x, dim, keepdim):
            count = (x != 0).to(x.abs().dtype)
            return count.sum(dim, keepdim) if x.dim() else count

        @staticmethod
        def backward(ctx, grad):
            return None, None, None

    class Power(Function):
        @staticmethod
        def forward(ctx, x, p, dim, keepdim):
            norm = _power_sum(x, p, dim, keepdim)
            ctx.save_for_backward(x, norm.detach())  # detached: a node that keeps its own output is never freed
            ctx.arguments = p, dim, keepdim
            return norm

        @staticmethod
        def backward(ctx, grad):
            (x, norm), (p, dim, keepdim) = ctx.saved_tensors, ctx.arguments
            if weir.is_grad_enabled():  # a second derivative goes through the norm too
                norm = Power.apply(x, p, dim, keepdim)
            if not keepdim:
                for d in sorted(d % x.dim() for d in dim):
                    norm, grad = norm.unsqueeze(d), grad.unsqueeze(d)
            return _power_gradient(x, norm, grad, p), None, None, None

    return Count, Power


def _power_gradient(x, norm, grad, p):
    """The gradient of (sum |x|^p)^(1/p), 0 where that has none. Source: PyTorch's norm_backward."""
    if p == 2:
        return grad * (x / norm).masked_fill(norm == 0, 0)
    return x.sgn() * x.abs().pow(p - 1).masked_fill(x == 0, 0) * grad * norm.pow(1 - p)


def _power_sum(x, p, dim, keepdim):
    """(sum |x|^p)^(1/p); above p = 1 the gradient of these parts is right, with 0 at 0."""
    if p < 1:
        return x.abs().pow(p).sum(dim, keepdim).pow(1.0 / p)
    zero = x == 0
    total = x.abs().masked_fill(zero, 1).pow(p).masked_fill(zero, 0).sum(dim, keepdim)
    zero = total == 0
    return total.masked_fill(zero, 1).pow(1.0 / p).masked_fill(zero, 0)


def widened(name, x, dtype):
    """x in the `dtype` that a norm is to have. Raises RuntimeError where that is not floating or holds less than x."""
    if not inexact(dtype):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype}")
    if weir.promote_types(x.dtype, dtype) != dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({x.dtype}) should be convertible without narrowing to the "
                           f"specified dtype ({dtype})")
    return x.to(dtype)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """(sum |x|^ord)^(1/ord) over dim; inf, -inf and 0 as in NumPy."""
    if ord == 2 and dtype is None and isinstance(x, Tensor) and inexact(x):
        return _norm2(x, () if dim is None else dim, keepdim)
    if not isinstance(x, Tensor):
        raise TypeError(f"linalg.vector_norm(): argument 'x' must be Tensor, not {type(x).__name__}")
    if not inexact(x):
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {x.dtype}")
    if dtype is not None:
        x = widened("linalg.vector_norm", x, dtype)
    axes = _axes(dim, x.dim())
    ord = float(ord)
    if ord == 2:
        return _norm2(x, axes, keepdim)
    if x.dtype in (weir.float16, weir.bfloat16):  # powers are beyond them where the norm is not
        return vector_norm(x.float(), ord, dim, keepdim).to(x.dtype)
    if x.dim() == 0:
        return x.abs() if ord != 0 else _norm_functions()[0].apply(x, None, False)
    empty = any(x.shape[d] == 0 for d in axes)
    if empty and (ord < 0 or ord == math.inf):
        raise RuntimeError(f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation "
                           "does not have an identity")
    if ord == math.inf:
        return x.abs().amax(axes, keepdim)
    if ord == -math.inf:
        return x.abs().amin(axes, keepdim)
    if ord == 0:
        return _norm_functions()[0].apply(x, axes, keepdim)
    if ord == 1:
        return x.abs().sum(axes, keepdim)
    if not x.requires_grad or (ord > 1 and ord != 2):
        return _power_sum(x, ord, axes, keepdim)
    return _norm_functions()[1].apply(x, ord, axes, keepdim)


@composite
def norm(input: Tensor, p="fro", dim=None, keepdim=False, dtype=None):
    """p-norm over dim ('fro' and 2 are the root of the sum of squares, 'nuc' the nuclear norm)."""
    if p == "nuc":
        return weir.linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


@composite
def dist(input: Tensor, other, p=2):
    """p-norm of input - other."""
    return vector_norm(input - other, p)


@composite(inplace=True)
def renorm(input: Tensor, p, dim, maxnorm):
    """Slices along dim scaled down to a p-norm of at most maxnorm."""
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    if input.dim() < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input.dim()} dimensions")
    dim = wrapped_dim(input, dim)
    axes = [d for d in range(input.dim()) if d != dim]
    norms = vector_norm(input, p, axes, True)
    return (input * weir.where(norms > maxnorm, maxnorm / (norms + 1e-7), weir.ones_like(norms))).contiguous()
