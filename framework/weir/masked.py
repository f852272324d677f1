"""torch.masked: reductions and normalisations of the elements where a boolean mask holds.

Without `mask` all elements count. A mask broadcasts to input's shape. Masked-out elements are replaced by the identity of
the operation, which then runs as usual; what no element reaches holds that identity (or NaN). Where a function lists no
shape, it is that of the unmasked function of the same name. Source: https://pytorch.org/docs/stable/masked.html
"""
import math

import weir
from weir._absent import absent_names
from weir._C import Tensor

from ._composites._check import inexact
from .linalg import vector_norm


def _axes(dim, rank):
    """dim as a tuple of axes in order; all of them for None and (). RuntimeError for one named twice."""
    if dim is None or dim == ():
        return tuple(range(rank))
    axes = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -max(rank, 1) <= d < max(rank, 1):
            raise IndexError(f"Dimension out of range (expected to be in range of [{-max(rank, 1)}, {max(rank, 1) - 1}], but "
                             f"got {d})")
        if d % max(rank, 1) in axes:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        axes.append(d % max(rank, 1))
    return tuple(sorted(axes))


def _wide_mask(input, mask):
    """The mask as bool in input's shape. IndexError when it has more axes than input."""
    if mask.dim() > input.dim():
        raise IndexError("masked: expected a broadcastable mask, got one of more dimensions than the input")
    return mask.to(weir.bool).expand(input.shape)


def _filled(input, mask, identity):
    """input with `identity` where the mask does not hold."""
    if mask is None:
        return input
    return weir.where(_wide_mask(input, mask), input, weir.full((), identity, dtype=input.dtype))


def _lowest(input):
    return -math.inf if inexact(input) else weir.iinfo(input.dtype).min


def _highest(input):
    return math.inf if inexact(input) else weir.iinfo(input.dtype).max


def _count(input, dim, mask):
    """How many elements over dim count, int64, reduced axes kept."""
    counted = weir.ones(input.shape, dtype=weir.int64) if mask is None else _wide_mask(input, mask).to(weir.int64)
    return counted.sum(_axes(dim, input.dim()), True)


def _summed_dtype(input, dtype):
    return dtype or (input.dtype if inexact(input) else weir.int64)


def sum(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum over dim; 0 where nothing counts. Integers are summed as int64."""
    return _filled(input, mask, 0).sum(_axes(dim, input.dim()), bool(keepdim), dtype=_summed_dtype(input, dtype))


def prod(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product over dim; 1 where nothing counts. Integers are multiplied as int64."""
    result = _filled(input, mask, 1).to(_summed_dtype(input, dtype))
    for d in reversed(_axes(dim, input.dim())):
        result = result.prod(d, bool(keepdim))
    return result


def cumsum(input: Tensor, dim, *, dtype=None, mask=None):
    """Running sums along dim. Shape: as input."""
    return weir.cumsum(_filled(input, mask, 0), _axes(dim, input.dim())[0], dtype=dtype or input.dtype)


def cumprod(input: Tensor, dim, *, dtype=None, mask=None):
    """Running products along dim. Shape: as input."""
    return weir.cumprod(_filled(input, mask, 1), _axes(dim, input.dim())[0], dtype=dtype or input.dtype)


def amax(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The maximum over dim; the dtype's lowest value where nothing counts."""
    filled = _filled(input, mask, _lowest(input))
    return weir.amax(filled, _axes(dim, input.dim()), bool(keepdim)).to(dtype or input.dtype)


def amin(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The minimum over dim; the dtype's highest value where nothing counts."""
    filled = _filled(input, mask, _highest(input))
    return weir.amin(filled, _axes(dim, input.dim()), bool(keepdim)).to(dtype or input.dtype)


def argmax(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the maximum along dim, in `dtype` (default: input's, as in PyTorch)."""
    return weir.argmax(_filled(input, mask, _lowest(input)), dim, bool(keepdim)).to(dtype or input.dtype)


def argmin(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The index of the minimum along dim, in `dtype` (default: input's, as in PyTorch)."""
    return weir.argmin(_filled(input, mask, _highest(input)), dim, bool(keepdim)).to(dtype or input.dtype)


def mean(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean over dim; NaN where nothing counts. ValueError for an integer dtype."""
    if not inexact(dtype or input.dtype):
        raise ValueError(f"mean(): the output dtype must be a floating point one. Got: {dtype or input.dtype}")
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, dim, mask).reshape(total.shape)


def median(input: Tensor, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower median along dim; NaN where nothing counts, which is a ValueError for integers."""
    wide = input if input.is_floating_point() else input.float()
    result = weir.nanmedian(_filled(wide, mask, math.nan), _axes(dim, input.dim())[0], keepdim).values
    if input.is_floating_point():
        return result
    if bool(weir.isnan(result).any()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return result.to(dtype or input.dtype)


def logsumexp(input: Tensor, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(input))) over dim; -inf where nothing counts."""
    filled = _filled(input, mask, _lowest(input))
    return weir.logsumexp(filled, _axes(dim, input.dim()), keepdim).to(dtype or input.dtype)


def logaddexp(input: Tensor, other: Tensor, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)) of two tensors with a mask each."""
    a, b = _filled(input, input_mask, _lowest(input)), _filled(other, other_mask, _lowest(other))
    return weir.logaddexp(a, b).to(dtype or input.dtype)


def norm(input: Tensor, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of order `ord` over dim; 0 where nothing counts (inf for ord -inf)."""
    filled = _filled(input, mask, math.inf if ord == -math.inf else 0)
    return vector_norm(filled, ord, _axes(dim, input.dim()), bool(keepdim), dtype=dtype or input.dtype)


def var(input: Tensor, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance over dim, divided by count - correction (default 1), which is 0 at least."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = correction if correction is not None else 1 if unbiased is None else int(unbiased)
    dtype = dtype or (input.dtype if inexact(input) else weir.float32)
    count = _count(input, dim, mask)
    centred = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / count
    total = sum(centred * centred.conj(), dim, keepdim=keepdim, mask=mask,
                dtype=dtype if inexact(dtype) else weir.float32)
    count = count.reshape(total.shape)
    if correction:
        count = (count.to(total.real.dtype) - correction).clamp(min=0)
    return (total / count).to(dtype)


def std(input: Tensor, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The root of var."""
    return weir.sqrt(var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask))


def softmax(input: Tensor, dim, *, dtype=None, mask=None):
    """exp(input) along dim, scaled to sum to 1; NaN where nothing counts. Shape: as input."""
    return weir.softmax(_filled(input, mask, _lowest(input)), _axes(dim, input.dim())[0], dtype=dtype or input.dtype)


def log_softmax(input: Tensor, dim, *, dtype=None, mask=None):
    """log(softmax(input)) along dim. Shape: as input."""
    return weir.log_softmax(_filled(input, mask, _lowest(input)), _axes(dim, input.dim())[0], dtype=dtype or input.dtype)


def softmin(input: Tensor, dim, *, dtype=None, mask=None):
    """softmax(-input) along dim. Shape: as input."""
    return weir.softmax(-_filled(input, mask, _highest(input)), _axes(dim, input.dim())[0], dtype=dtype or input.dtype)


def normalize(input: Tensor, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """input / max(norm(input, ord), eps) along dim, 0 where the mask does not hold. Shape: as input."""
    scale = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled(input, mask, 0) / weir.maximum(scale, scale.new_full((), eps))


__getattr__ = absent_names("weir.masked", "MaskedTensor masked_tensor as_masked_tensor is_masked_tensor", "weir has no masked tensors")

__path__ = []  # a package in PyTorch, whose further modules _absent_modules has
