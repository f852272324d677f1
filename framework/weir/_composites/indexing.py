"""Reading and writing by index."""

import weir
from weir._C import Tensor
from weir._checks import require

from ._register import OUT_SAME, OUT_EXACT, composite
from .reduction import without_gradient
from .shape import wrapped_dim


def _int64(name, index):
    if index.dtype not in (weir.int64, weir.int32):
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {index.dtype}")
    return index.to(weir.int64)


def _wrapped(name, index, size):
    """Index with negative entries counted from the end. Raises IndexError outside the range."""
    if index.numel():
        require((index >= -size) & (index < size), IndexError, f"{name}(): index out of range for a tensor with {size} elements")
    return weir.where(index < 0, index + size, index)


@composite(out=OUT_EXACT)
def take(input: Tensor, index):
    """Elements of the flattened input. Shape: as index."""
    if index.dtype != weir.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype}")
    index = _wrapped("take", index, input.numel())
    return input.reshape(-1).index_select(0, index.reshape(-1)).reshape(index.shape)


@composite(out=OUT_SAME)
def take_along_dim(input: Tensor, indices, dim=None):
    """gather with broadcasting; over the flattened tensors without dim."""
    if indices.dtype != weir.int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype}")
    if dim is None:  # raises where rows do not lie one after another, as in PyTorch
        return input.view(-1).gather(0, indices.view(-1))
    if input.dim() != indices.dim():
        raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
                           f"{input.dim()} dimensions for input, and {indices.dim()} dimensions for indices")
    if input.dim() == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = dim % input.dim()
    one = lambda shape: [1 if d == dim else s for d, s in enumerate(shape)]  # noqa: E731
    common = list(weir.broadcast_shapes(one(input.shape), one(indices.shape)))
    wide = lambda t: t.expand([t.shape[dim] if d == dim else s for d, s in enumerate(common)])  # noqa: E731
    return wide(input).gather(dim, weir.remainder(wide(indices), max(input.shape[dim], 1)))  # any index counts around


def _rows(input, dim, index):
    """index (1-d) as a gather index of the shape of the slices it names along dim."""
    shape = [index.numel() if d == dim else 1 for d in range(input.dim())]
    full = [index.numel() if d == dim else s for d, s in enumerate(input.shape)]
    return index.reshape(shape).expand(full)


def _scatter_rows(name, input, dim, index, write):
    flat = input.reshape(1) if input.dim() == 0 else input
    dim = wrapped_dim(flat, dim)
    rows = _rows(flat, dim, _wrapped(name, _int64(name, index.reshape(-1)), flat.shape[dim]))
    return write(flat, dim, rows).reshape(input.shape)


@composite(inplace=True, out=None)
def index_fill(input: Tensor, dim, index, value):
    """A copy of input with the slices at index along dim set to value."""
    if isinstance(value, Tensor) and value.dim():
        raise RuntimeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                           f"{value.dim()} dimension(s).")
    if index.dtype != weir.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    wrapped_dim(input, dim)
    if index.dim() > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if input.numel() == 0:  # no index can be wrong where nothing is written
        return input.clone()
    if isinstance(value, Tensor):
        def fill(x, d, rows):
            written = weir.zeros(x.shape, dtype=weir.bool).scatter(d, rows, True)
            return weir.where(written, value.to(x.dtype), x)
    else:
        fill = lambda x, d, rows: x.scatter(d, rows, value)  # noqa: E731
    return weir._C._as_new(weir.empty_like(input).copy_(_scatter_rows("index_fill_", input, dim, index, fill)))


@composite(inplace=True)
def index_copy(input: Tensor, dim, index, source):
    """A copy of input with the slices of source at index along dim."""
    dim = wrapped_dim(input, dim)
    if index.dim() > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.dim()})")
    if source.dim() == 0 and index.numel() != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.numel()})")
    if source.dim() and input.dim() and source.dim() != input.dim():
        raise IndexError("index_copy_(): When source and destination are not scalars, their dimensionality must match. "
                         f"Source dimensionality ({source.dim()}), destination dimensionality ({input.dim()})")
    if input.dtype != source.dtype:
        raise RuntimeError("index_copy_(): self and source expected to have the same dtype, but got (self) "
                           f"{input.dtype} and (source) {source.dtype}")
    slices = lambda x: [s for d, s in enumerate(x.shape) if d != dim]  # noqa: E731
    if source.dim() and input.dim() and slices(source) != slices(input):
        raise RuntimeError(f"index_copy_(): Source/destination tensor must have same slice shapes. Got {slices(input)} and "
                           f"{slices(source)}")
    if source.dim() and source.shape[dim] != index.numel():
        raise IndexError(f"index_copy_(): Number of indices ({index.numel()}) should be equal to source.size(dim) "
                         f"({source.shape[dim]})")
    if input.numel() == 0:  # no index can be wrong where nothing is written; the gradient reaches both
        return without_gradient(input.clone(), source.sum())
    return _scatter_rows("index_copy_", input, dim, index, lambda x, d, rows: x.scatter(d, rows, source.reshape(rows.shape)))


@composite(inplace=True, out=None)
def masked_scatter(input: Tensor, mask, source):
    """A copy of input with source's elements in order where mask holds."""
    if mask.dtype != weir.bool:
        raise RuntimeError("masked_scatter_ only supports boolean masks, but got mask with dtype " + str(mask.dtype))
    if input.dtype != source.dtype:
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got {input.dtype} and "
                           f"{source.dtype}")
    input, mask = weir.broadcast_tensors(input, mask)
    position = mask.reshape(-1).to(weir.int64).cumsum(0) - 1
    require(mask.to(weir.int64).sum() <= source.numel(), RuntimeError,
            "masked_scatter: expected the number of elements in source to be at least the number of ones in mask")
    if source.numel() == 0:
        return weir.where(mask, source.sum().to(input.dtype), input)  # nothing is taken; the gradient reaches both
    values = source.reshape(-1)[position.clamp(min=0)].reshape(input.shape)
    return weir.where(mask, values, input).contiguous()


@composite(inplace=True, out=None)
def put(input: Tensor, index, source, accumulate=False):
    """A copy of input with source written, or added, at flat indices."""
    if index.dtype != weir.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype}")
    if input.dtype != source.dtype:
        raise RuntimeError("put_(): self and source expected to have the same dtype, but got self.dtype = "
                           f"{input.dtype} and source.dtype = {source.dtype}")
    if index.numel() != source.numel():
        raise IndexError("put_(): Expected source and index to have the same number of elements, but got "
                           f"source.numel() = {source.numel()}, index.numel() = {index.numel()}")
    flat, where = input.reshape(-1), _wrapped("put_", index.reshape(-1), input.numel())
    write = flat.scatter_add if accumulate else flat.scatter
    return write(0, where, source.reshape(-1)).reshape(input.shape)


def _check_put(input, key, values):
    """Raises unless values of input's dtype broadcast to input[key]; only then does it matter what the indices are."""
    if any(isinstance(i, Tensor) and i.numel() and not size for i, size in zip(key, input.shape)):
        raise IndexError("index is out of bounds for dimension with size 0")
    places = lambda i: isinstance(i, Tensor) and i.dtype in (weir.int64, weir.int32)  # noqa: E731
    zeros = tuple(weir.zeros_like(i) if places(i) else i for i in key)
    shape = input.detach()[zeros].shape
    if values.dim() > len(shape) or any(n not in (1, m) for n, m in zip(values.shape[::-1], shape[::-1])):
        raise RuntimeError(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
                           f"indexing result of shape {list(shape)}")
    if input.dtype != values.dtype:
        raise RuntimeError(f"Index put requires the source and destination dtypes match, got {input.dtype} for the "
                           f"destination and {values.dtype} for the source.")


@composite(out=None)
def index_put(input: Tensor, indices, values, accumulate=False):
    """A copy of input with values written, or added, at input[indices]."""
    _check_put(input, tuple(slice(None) if i is None else i for i in indices), values)
    return weir._C._as_new(weir._C._index_put(input.clone(), indices, values, accumulate))


@composite(out=None)
def index_put_(input: Tensor, indices, values, accumulate=False):
    """values written, or added, at input[indices], in place: what is not indexed is not touched."""
    _check_put(input, tuple(slice(None) if i is None else i for i in indices), values)
    return weir._C._index_put(input, indices, values, accumulate)
