"""Scattered and indexed reductions.

NumPy finds the extreme or product at each place; the tensor expression over it carries the gradient.
"""

from .._lazy import np
import weir
from weir._C import Tensor

from ._register import composite
from .reduction import without_gradient
from .shape import wrapped_dim

_UFUNC = {"prod": "multiply", "amax": "maximum", "amin": "minimum"}
_START = {"prod": 1.0, "amax": -float("inf"), "amin": float("inf")}


def _at(base, dim, index, src, reduce):
    """base reduced with src at index along dim; no gradient."""
    dtype = base.dtype
    wide = (lambda t: t.detach().float() if t.dtype in (weir.bfloat16, weir.float16) else t.detach())
    result = wide(base).contiguous().clone()
    array, where, values = result.numpy(), index.numpy(), wide(src).numpy()
    place = list(np.indices(where.shape, sparse=True))
    place[dim] = where
    values = values[tuple(slice(0, n) for n in where.shape)]
    getattr(np, _UFUNC[reduce]).at(array, tuple(np.broadcast_arrays(*place)), values)
    return result.to(dtype)


def _neutral(input, reduce):
    if reduce == "prod" or input.is_floating_point():
        return _START[reduce]
    if input.dtype == weir.bool:
        return reduce == "amin"
    limits = weir.iinfo(input.dtype)
    return limits.min if reduce == "amax" else limits.max


def _check_sizes(input, dim, index, src):
    """Raises where `index` does not fit. Source of the order: PyTorch's scatter_shape_check."""
    if index.dim() != input.dim():
        raise RuntimeError("scatter(): Index tensor must have the same number of dimensions as self tensor")
    fits = all(n <= m for axis, (n, m) in enumerate(zip(index.shape, input.shape)) if axis != dim)
    fits = fits and all(n <= src.size(axis) for axis, n in enumerate(index.shape))  # IndexError where src has no such axis
    if src.dim() != index.dim():
        raise RuntimeError("scatter(): Index tensor must have the same number of dimensions as src tensor")
    if not fits:
        raise RuntimeError(f"scatter(): Expected index {list(index.shape)} to be no larger than self {list(input.shape)} apart from "
                           f"dimension {dim} and to be no larger size than src {list(src.shape)}")


@composite(inplace=True)
def scatter_reduce(input: Tensor, dim, index, src, reduce, *, include_self=True):
    """input reduced with src's elements at index along dim; reduce: sum, prod, mean, amax or amin.

    Without include_self the old value at a place that is hit does not count.
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError("reduce argument must be either sum, prod, mean, amax or amin, got " + str(reduce))
    dim = wrapped_dim(input, dim)
    if index.dtype not in (weir.int64, weir.int32):
        raise RuntimeError("scatter(): Expected dtype int32/int64 for index")
    if input.dtype != src.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if input.dim() == 0:
        flat = scatter_reduce(input.reshape(1), 0, index.reshape(-1), src.reshape(-1), reduce, include_self=include_self)
        return flat.reshape(())
    index = index.to(weir.int64).reshape([1] * input.dim()) if index.dim() == 0 else index.to(weir.int64)
    src = src.reshape([1] * input.dim()) if src.dim() == 0 else src
    if index.numel() == 0:
        return without_gradient(input.clone(memory_format=weir.contiguous_format), src.sum())
    _check_sizes(input, dim, index, src)
    hits = weir.zeros(input.shape, dtype=weir.int64).scatter_add(dim, index, weir.ones(index.shape, dtype=weir.int64))
    kept = hits.eq(0) if not include_self else weir.ones(input.shape, dtype=weir.bool)
    src = src[tuple(slice(0, n) for n in index.shape)]
    if reduce in ("sum", "mean"):
        return _sum(input, dim, index, src, hits, kept, reduce == "mean", include_self)
    base = weir.where(kept, input, weir.full_like(input, _neutral(input, reduce)))
    value = _at(base, dim, index, src, reduce)
    if not (input.requires_grad or src.requires_grad):
        return value
    return (_product if reduce == "prod" else _extreme)(base, dim, index, src, value, kept)


def _sum(input, dim, index, src, hits, kept, mean, include_self):
    total = weir.where(kept, input, weir.zeros_like(input)).scatter_add(dim, index, src)
    if not mean:
        return total
    count = (hits + (1 if include_self else 0)).clamp(min=1)
    if input.is_floating_point():
        return total / count
    return weir.div(total, count, rounding_mode="floor").to(input.dtype)


def _extreme(base, dim, index, src, value, kept):
    """The mean of all elements that reach `value`: their gradients share evenly, as PyTorch defines."""
    wins_self = ((base == value) & kept).to(value.dtype).detach()
    wins_src = (src == value.gather(dim, index)).to(value.dtype).detach()
    count = wins_self.scatter_add(dim, index, wins_src)
    filled = weir.where(wins_self > 0, base, weir.zeros_like(base))
    return filled.scatter_add(dim, index, src * wins_src) / count.clamp(min=1)


def _product(base, dim, index, src, value, kept):
    """value plus first-order terms that vanish: each factor's gradient is the product of the others."""
    def others(factor, product, without_zeros, zeros):
        safe = weir.where(factor == 0, weir.ones_like(factor), factor)
        rest = weir.where(zeros == (factor == 0).to(zeros.dtype), without_zeros / safe, weir.zeros_like(factor))
        return weir.where(factor == 0, weir.where(zeros == 1, without_zeros, weir.zeros_like(rest)), rest).detach()

    plain = base.detach()
    ones = lambda t: weir.where(t == 0, weir.ones_like(t), t)  # noqa: E731
    without_zeros = _at(ones(plain), dim, index, ones(src.detach()), "prod")
    zeros = (plain == 0).to(value.dtype).scatter_add(dim, index, (src.detach() == 0).to(value.dtype))
    own = others(plain, value, without_zeros, zeros) * (base - plain)
    theirs = others(src.detach(), None, without_zeros.gather(dim, index), zeros.gather(dim, index)) * (src - src.detach())
    return (value + own).scatter_add(dim, index, theirs)


def _check_slices(name, input, dim, index, source):
    """Raises unless source has a slice of input's shape along dim for every index. Source: index_func_meta_impl."""
    if index.dim() > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, but got dim: {index.dim()}")
    if index.dtype not in (weir.int64, weir.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index but got: {index.dtype}")
    if input.dtype != source.dtype:
        raise RuntimeError(f"{name}(): self ({input.dtype}) and source ({source.dtype}) must have the same scalar type")
    if dim and dim >= source.dim():
        raise RuntimeError(f"{name}(): Indexing dim {dim} is out of bounds of the source tensor with dim "
                           f"{source.dim()}")
    if not source.dim() and index.numel() != 1:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    slices = source.shape[dim] if source.dim() else 1
    if index.numel() != slices:
        raise RuntimeError(f"{name}(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
                           f"({slices}), for dim: {dim}")
    both = input.dim() and source.dim()
    rest = lambda x: [s for d, s in enumerate(x.shape) if d != dim or not both]  # noqa: E731
    if rest(input) != rest(source):
        raise RuntimeError("source tensor shape must match self tensor shape, excluding the specified dimension. Got "
                           f"self.shape = {list(input.shape)} source.shape = {list(source.shape)}")


@composite(inplace=True)
def index_reduce(input: Tensor, dim, index, source, reduce, *, include_self=True):
    """input's slices at index along dim reduced with source's; reduce: prod, mean, amax or amin."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    dim = wrapped_dim(input, dim)
    _check_slices("index_reduce_", input, dim, index, source)
    if index.numel() and not bool(((index >= 0) & (index < (input.shape[dim] if input.dim() else 1))).all()):
        raise IndexError("index out of range in self")
    if input.dim() == 0:
        return scatter_reduce(input, 0, index, source, reduce, include_self=include_self)
    shape = [index.numel() if d == dim else 1 for d in range(input.dim())]
    wide = index.reshape(shape).expand(source.shape)
    return scatter_reduce(input, dim, wide, source, reduce, include_self=include_self)
