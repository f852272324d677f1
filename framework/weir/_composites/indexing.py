"""Reading and writing by index."""

import weir
from weir._C import Tensor

from ._register import composite


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


def _within(input, indices):
    """Positions that may lie outside, moved to the nearest end; None keeps its axis whole."""
    return tuple(slice(None) if i is None else i.clamp(-size, size - 1) for i, size in zip(indices, input.shape))


@composite(out=None, method=False)
def _unsafe_masked_index(input: Tensor, mask, indices, fill):
    """input[indices] where mask holds, fill elsewhere; positions there may lie outside of input."""
    if input.numel() == 0:
        return input.new_full(weir.broadcast_tensors(mask, *(i for i in indices if i is not None))[0].shape, fill)
    return input[_within(input, indices)].masked_fill(~mask, fill)


@composite(out=None, method=False)
def _unsafe_masked_index_put_accumulate(input: Tensor, mask, indices, values):
    """A copy of input with values added at input[indices] where mask holds; positions elsewhere may lie outside of input."""
    if input.numel() == 0:
        return input.clone()
    return input.clone().index_put_(_within(input, indices), values.masked_fill(~mask, 0), accumulate=True)
