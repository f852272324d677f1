"""Element by element: functions that keep zero, sums and products of sparse tensors, and reductions."""
import weir
from weir import Tensor
from weir._C import ops

from ._places import as_coo, like
from ._rules import becomes, check_fits, layouts, rule
from ._tensor import CooTensor, CompressedTensor, add_rows, alias, flat, is_sparse

#: f(0) = 0, so that values alone change. Source: the unary functions that PyTorch has for sparse tensors.
KEEP_ZERO = """abs asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf log1p
    nan_to_num rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc""".split()
#: f(a + b) = f(a) + f(b), so that places that come twice may stay.
_LINEAR = ("neg", "conj", "positive", "resolve_conj", "resolve_neg")


def _unary(name, linear):
    def function(input, *args, **kwargs):
        f = getattr(weir, name)
        s = input if linear or not isinstance(input, CooTensor) else input.coalesce()
        return s._with(alias(f(s._v, *args, **kwargs)))
    function.__name__, function.__doc__ = name, f"{name} of the values."
    return function


for _name in (*KEEP_ZERO, *_LINEAR):
    rule(_name)(_unary(_name, _name in _LINEAR))


def _is_number(x):
    return not isinstance(x, Tensor) or x.dim() == 0 and not is_sparse(x)


def _numbered(name, linear):
    def function(input, other, **kwargs):
        if not is_sparse(input):
            raise NotImplementedError(f"{name}: weir has no formula for it on tensors of layout {layouts((input, other))}")
        if not _is_number(other):
            raise RuntimeError(f"Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {list(other.shape)} for "
                               "divisor)")
        s = input if linear and not kwargs.get("rounding_mode") or not isinstance(input, CooTensor) else input.coalesce()
        return s._with(getattr(weir, name)(s._v, other, **kwargs))
    function.__doc__ = f"{name} of the values by a number."
    return function


rule("div")(_numbered("div", True))
rule("floor_divide")(_numbered("floor_divide", False))


def _power(name):
    def function(input, exponent):
        if isinstance(exponent, Tensor) or is_sparse(exponent) or not is_sparse(input):
            raise NotImplementedError(f"{name}: weir has no formula for it on tensors of layout {layouts((input, exponent))}")
        if exponent == 0:
            raise RuntimeError(f"{name}: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
        s = input.coalesce() if isinstance(input, CooTensor) else input
        return s._with(getattr(weir, name)(s._v, exponent))
    return function


rule("pow")(_power("pow"))
rule("float_power")(_power("float_power"))


# ---- sums ----
@rule("add")
def add(input, other, *, alpha=1):
    """Sparse + sparse is sparse; dense + sparse is dense. RuntimeError for sparse COO + dense, as PyTorch has no such sum."""
    if is_sparse(input) and is_sparse(other):
        return _add_sparse(input, other, alpha)
    if not is_sparse(input):
        return _add_to_dense(input, other, alpha)
    if isinstance(input, CompressedTensor) and isinstance(other, Tensor):
        return other * alpha + input
    raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


@rule("sub")
def sub(input, other, *, alpha=1):
    """input - alpha other; see add."""
    _refuse_truths(input, other)
    return add(input, other, alpha=-alpha)


def _refuse_truths(input, other):
    if weir.bool in (getattr(input, "dtype", None), getattr(other, "dtype", None)):
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
                           "`logical_not()` operator instead.")


def _same_shape(input, other):
    if input.shape != other.shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(input.shape)} != {list(other.shape)}")


def _same_places(a, b):
    return a._i is b._i or a._i.shape == b._i.shape and bool((a._i == b._i).all())


def _scaled(values, alpha):
    return values if type(alpha) is int and alpha == 1 else values * alpha


def _add_sparse(input, other, alpha):
    _same_shape(input, other)
    a, b = as_coo(input), as_coo(other)
    if a.sparse_dim() != b.sparse_dim():
        raise RuntimeError(f"add: expected 'self' and 'other' to have same number of sparse dimensions, but {a.sparse_dim()} != "
                           f"{b.sparse_dim()}")
    if _same_places(a, b):
        return like(a._with(a._v + _scaled(b._v.to(weir.result_type(a._v, b._v)), alpha)), input)
    dtype = weir.result_type(a._v, b._v)  # in which -1 times unsigned numbers does not wrap around
    values = weir.cat([a._v.to(dtype), _scaled(b._v.to(dtype), alpha)])
    total = CooTensor._make(weir.cat([a._i, b._i], 1), values, input.shape)
    return like(total.coalesce() if a._coalesced and b._coalesced else total, input)


def _add_to_dense(input, other, alpha):
    if not isinstance(input, Tensor):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    _same_shape(input, other)
    s = as_coo(other)
    dtype = weir.result_type(input, s._v)
    lead = input.shape[:s.sparse_dim()]
    rows = input.to(dtype).reshape(lead.numel(), *input.shape[s.sparse_dim():])
    return add_rows(rows, flat(s._i, input.shape), _scaled(s._v.to(dtype), alpha)).reshape(input.shape)


@rule("add_")
def add_(input, other, *, alpha=1):
    """In place; into a dense tensor row by row, so that it costs as much as `other` has entries."""
    if is_sparse(input):
        return becomes(input, add(input, other, alpha=alpha), "add_")
    _same_shape(input, other)
    check_fits(weir.result_type(input, other), input.dtype, "add_")
    s = as_coo(other)
    values = _scaled(s._v.to(input.dtype), alpha)
    if s.sparse_dim() == 1 and input.dtype is s._v.dtype and input.dtype is not weir.bool:
        return input.index_add_(0, s._i[0], values)
    return input.index_put_(tuple(s._i), values, accumulate=True)


@rule("sub_")
def sub_(input, other, *, alpha=1):
    """add_ of -alpha other."""
    _refuse_truths(input, other)
    return add_(input, other, alpha=-alpha)


# ---- products ----
@rule("mul")
def mul(input, other):
    """Products of entries: with a number, a dense tensor that broadcasts to the sparse one's shape, or a sparse tensor."""
    if not is_sparse(input):
        input, other = other, input
    if _is_number(other):
        return input._with(input._v * other)
    if is_sparse(other):
        return _mul_sparse(input, other)
    s = as_coo(input)
    dense = other.expand(input.shape)
    at = dense[tuple(s._i)] if s.sparse_dim() else dense.unsqueeze(0)
    return input._with(input._v * at)


def _mul_sparse(input, other):
    a, b = as_coo(input), as_coo(other)
    if a.sparse_dim() != b.sparse_dim() or a.shape[:a.sparse_dim()] != b.shape[:b.sparse_dim()] or a.dim() != b.dim():
        raise RuntimeError("mul(sparse, sparse): expects sparse inputs with equal dimensionality, number of sparse dimensions, and shape "
                           "of sparse dimensions")
    if a._coalesced and b._coalesced and _same_places(a, b):
        return like(a._with(a._v * b._v), input)
    if not b._coalesced and a._coalesced:
        a, b = b, a  # each entry of a meets at most one of b
    b = b.coalesce()
    wanted, known = flat(a._i, a.shape), flat(b._i, b.shape)
    if not known.shape[0]:
        return like(CooTensor._make(b._i, b._v * a._v[:0], input.shape, True), input)
    at = weir.searchsorted(known, wanted).clamp(max=known.shape[0] - 1)
    met = (known.index_select(0, at) == wanted).nonzero()[:, 0]
    values = a._v.index_select(0, met) * b._v.index_select(0, at.index_select(0, met))
    return like(CooTensor._make(a._i.index_select(1, met), values, input.shape, a._coalesced), input)


@rule("mul_")
def mul_(input, other):
    """In place; dense times sparse is zero where the sparse tensor has no entry."""
    if is_sparse(input):
        return becomes(input, mul(input, other), "mul_")
    result = mul(other, input)
    check_fits(result.dtype, input.dtype, "mul_")
    return input.copy_(result.to_dense())


# ---- reductions ----
def _dims(dim, rank):
    dims = [dim] if isinstance(dim, int) else list(dim)
    wrapped = [d + rank if d < 0 else d for d in dims]
    for d, w in zip(dims, wrapped):
        if not 0 <= w < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {d})")
        if wrapped.count(w) > 1:
            raise RuntimeError(f"dim {w} appears multiple times in the list of dims")
    return wrapped


@rule("sum")
def sum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum over all elements, dense; over some dims, sparse in those that are left, dense where no sparse dim is."""
    if dim is None or dim == () or dim == []:
        return input._v.sum(dtype=dtype)
    if isinstance(input, CompressedTensor):
        if not keepdim:
            raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
        return like(sum(as_coo(input).coalesce(), dim, True, dtype=dtype), input)
    count, dims = input.sparse_dim(), _dims(dim, input.dim())
    inner = [d - count + 1 for d in dims if d >= count]
    values = input._v.sum(inner, keepdim, dtype=dtype) if inner else input._v if dtype is None else input._v.to(dtype)
    left = [d for d in range(count) if d not in dims]
    if values.dtype in (weir.int32, weir.int16, weir.int8, weir.uint8, weir.bool) and dtype is None:
        values = values.to(weir.int64)
    shape = [1 if d in dims else n for d, n in enumerate(input.shape) if keepdim or d not in dims]
    if len(left) == count:
        return CooTensor._make(input._i, values, shape, input._coalesced).coalesce()
    if not left and not keepdim:
        return values.sum(0)
    indices = input._i.clone() if keepdim else input._i[left]
    if keepdim:
        indices[[d for d in dims if d < count]] = 0
    return CooTensor._make(indices, values, shape).coalesce()


@rule("norm")
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The p-norm of all elements. RuntimeError for some dims only."""
    if dim is not None and len(_dims(dim, input.dim())) != input.dim():
        raise RuntimeError("norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions "
                           "of the input")
    values = input.coalesce()._v if isinstance(input, CooTensor) else input._v
    return weir.norm(values, 2 if p in ("fro", None) else p, dtype=dtype)


@rule("any")
def any(input, dim=None, keepdim=False):
    """Is one of the values not zero?"""
    if dim is not None:
        raise NotImplementedError(f"any over a dim: weir has no formula for it on tensors of layout {layouts((input,))}")
    return input._v.any()


# ---- softmax over the entries that are there ----
def softmax(input, dim, dtype, log):
    """Softmax, or its logarithm, along dim."""
    if not isinstance(input, CooTensor):
        raise NotImplementedError(f"softmax: weir has no formula for it on tensors of layout {layouts((input,))}")
    s = input.coalesce()
    (dim,), count = _dims(dim, s.dim()), s.sparse_dim()
    values = s._v if dtype is None else s._v.to(dtype)
    if dim >= count:
        return s._with((weir.log_softmax if log else weir.softmax)(values, dim - count + 1))
    rest = [d for d in range(count) if d != dim]
    numbers = flat(s._i[rest], [s.shape[d] for d in rest])
    lines, line = numbers.unique(return_inverse=True)
    none = weir.zeros((lines.shape[0], *values.shape[1:]), dtype=values.dtype)
    largest = none.index_reduce(0, line, values.detach(), "amax", include_self=False)
    shifted = values - largest.index_select(0, line)
    total = none.index_add(0, line, shifted.exp())
    if log:
        return s._with(shifted - total.log().index_select(0, line))
    return s._with(shifted.exp() / total.index_select(0, line))


@rule("to_dense")
def to_dense(input, dtype=None, *, masked_grad=None):
    """All elements, zero where no entry is; values of one place are added. RuntimeError for a dtype, as in PyTorch."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    s = as_coo(input)
    lead = s.shape[:s.sparse_dim()]
    rows = ops["torch"]["zeros"]((lead.numel(), *s._v.shape[1:]), dtype=s.dtype)
    return add_rows(rows, flat(s._i, s.shape), s._v).reshape(s.shape)


