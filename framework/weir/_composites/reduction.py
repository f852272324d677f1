"""Reductions beyond the core's: deviations, NaN-ignoring forms, norms, counts."""

import functools
import math

import weir
from weir._C import Tensor

from ._check import inexact
from ._register import OUT_SAME, OUT_EXACT, composite
from .shape import wrapped_dim



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
    if not weir._C._is_tracing() and bool(weir.isfinite(mean.detach()).all()):
        return mean
    axes = [d % max(input.dim(), 1) for d in _axes(dim, input.dim())]
    kept = [d for d in range(input.dim()) if d not in axes]
    rows = input.detach().permute(kept + sorted(axes)).flatten(len(kept)) if axes else input.detach().unsqueeze(-1)
    before_last = rows[..., :-1].sum(-1).reshape(mean.shape)
    spoiled = weir.isinf(before_last) & ~weir.isfinite(mean.detach())
    return mean + weir.full_like(before_last, -0.0).masked_fill(spoiled, math.nan)  # x + -0 is x; the gradient is the mean's


def _mean_arguments(dim=None, unbiased=None, keepdim=False, *, correction=None):
    return (None if isinstance(dim, bool) else dim), keepdim


@composite(method=False, out=None)
def var_mean(input: Tensor, *args, **kwargs):
    """(var, mean) over dim."""
    dim, keepdim = _mean_arguments(*args, **kwargs)
    return weir.var(input, *args, **kwargs), _running_mean(input, dim, keepdim)


@composite(method=False, out=None)
def std_mean(input: Tensor, *args, **kwargs):
    """(std, mean) over dim."""
    dim, keepdim = _mean_arguments(*args, **kwargs)
    return std(input, *args, **kwargs), _running_mean(input, dim, keepdim)


@composite(out=None)
def nanmean(input: Tensor, dim=None, keepdim=False, *, dtype=None, out=None):
    """Mean over dim of what is not NaN."""
    if not inexact(input):
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {input.dtype}")
    if dtype is not None and not inexact(dtype):
        raise RuntimeError("nanmean(): could not infer output dtype. Optional dtype must be either a floating point or complex "
                           f"dtype. Got: {dtype}")
    count = weir.logical_not(weir.isnan(input)).to(weir.int64).sum(dim, keepdim)
    total = weir.nansum(input, dim, keepdim, dtype=dtype, out=out)
    return total / count if out is None else out.div_(count)


@composite(out=None)
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


def widened(name, x, dtype):
    """x in the `dtype` that a norm is to have. Raises RuntimeError where that is not floating or holds less than x."""
    if not inexact(dtype):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype}")
    if weir.promote_types(x.dtype, dtype) != dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({x.dtype}) should be convertible without narrowing to the "
                           f"specified dtype ({dtype})")
    return x.to(dtype)


vector_norm = weir._C.ops["hidden"]["vector_norm"]


@composite(out=OUT_SAME)
def norm(input: Tensor, p="fro", dim=None, keepdim=False, dtype=None):
    """p-norm over dim ('fro' and 2 are the root of the sum of squares, 'nuc' the nuclear norm)."""
    if p == "nuc":
        return weir.linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


@composite(out=None)
def dist(input: Tensor, other, p=2):
    """p-norm of input - other."""
    return vector_norm(input - other, p)


@composite(inplace=True, out=OUT_SAME)
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
