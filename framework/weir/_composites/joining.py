"""Joining, repeating and splitting."""

import itertools

import weir
from weir._C import Tensor

from ._register import OUT_JOINED, autocast_as, composite


def _tensors(args):
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)


def need_tensors(tensors):
    """The tensors of a function that takes no list of them. Raises TypeError for another type."""
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return list(tensors)


@composite(method=False, aliases=("concatenate",), out=OUT_JOINED)
def concat(tensors, dim=0):
    """As cat."""
    return weir.cat(list(tensors), dim)


def _atleast(rank, pad):
    def atleast(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return pad(tensors[0])
        return tuple(pad(t) for t in _tensors(tensors))

    atleast.__name__ = f"atleast_{rank}d"
    atleast.__doc__ = f"Each tensor with axes of size 1 added until it has {rank}."
    return composite(atleast, method=False, out=None)


def _pad_3d(t):
    if t.dim() >= 3:
        return t
    return t.reshape(1, 1, 1) if t.dim() == 0 else t.reshape(1, -1, 1) if t.dim() == 1 else t.unsqueeze(-1)


atleast_1d = _atleast(1, lambda t: t.reshape(1) if t.dim() == 0 else t)
atleast_2d = _atleast(2, lambda t: t.reshape(1, -1) if t.dim() < 2 else t)
atleast_3d = _atleast(3, _pad_3d)


def _need_some(name, tensors):
    if len(tensors) == 0:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


@composite(method=False, out=OUT_JOINED)
def hstack(tensors):
    """Joined along axis 1, vectors along axis 0."""
    _need_some("hstack", tensors)
    parts = atleast_1d(list(tensors))
    return weir.cat(list(parts), 0 if parts and parts[0].dim() == 1 else 1)


@composite(method=False, aliases=("row_stack",), out=OUT_JOINED)
def vstack(tensors):
    """Joined as rows."""
    _need_some("vstack", tensors)
    return weir.cat(list(atleast_2d(list(tensors))), 0)


@composite(method=False, out=OUT_JOINED)
def dstack(tensors):
    """Joined along axis 2."""
    _need_some("dstack", tensors)
    return weir.cat(list(atleast_3d(list(tensors))), 2)


@composite(method=False, out=OUT_JOINED)
def column_stack(tensors):
    """Joined as columns."""
    return weir.cat([t.reshape(-1, 1) if t.dim() <= 1 else t for t in tensors], 1)


@composite(out=None)
def tile(input: Tensor, *dims):
    """Repeated `dims` times along each axis, from the last one on."""
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    dims = (1,) * (input.dim() - len(dims)) + tuple(dims)
    return input.repeat(*dims)


@composite(method=False, out=None)
@autocast_as("unchanged")
def block_diag(*tensors):
    """Matrices along the diagonal of a larger one, zeros elsewhere."""
    blocks = [t if t.dim() == 2 else t.reshape(1, -1) for t in need_tensors(tensors) if _at_most_2d(t)]
    if not blocks:
        return weir.empty(1, 0)
    dtype = blocks[0].dtype
    for b in blocks:
        dtype = weir.promote_types(dtype, b.dtype)
    columns, rows, before = sum(b.shape[1] for b in blocks), [], 0
    for b in blocks:
        height, width = b.shape
        parts = [weir.zeros(height, before, dtype=dtype), b.to(dtype),
                 weir.zeros(height, columns - before - width, dtype=dtype)]
        rows.append(weir.cat(parts, 1))
        before += width
    return weir.cat(rows, 0)


def _at_most_2d(t):
    if t.dim() > 2:
        raise RuntimeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Got {t.dim()} dimensions")
    return True


@composite(method=False, out=None)
def broadcast_shapes(*shapes):
    """The shape that all given shapes broadcast to. Raises RuntimeError when there is none."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(reversed(shape)):
            if size < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({size}): ({size})")
            at = rank - 1 - i
            if size != 1 and result[at] not in (1, size):
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            result[at] = size if size != 1 else result[at]
    return weir.Size(result)


@composite(method=False, out=None)
def broadcast_tensors(*tensors):
    """All tensors expanded to their common shape."""
    tensors = need_tensors(tensors)
    shape = tensors[0].shape if tensors else ()
    if all(t.shape == shape for t in tensors):
        return tuple(tensors)
    shape = broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t.expand(shape) for t in tensors)


@composite(out=None)
def broadcast_to(input: Tensor, size):
    """input expanded to `size`."""
    return input.expand(*size)


@composite(method=False, out=None)
def meshgrid(*tensors, indexing=None):
    """A grid per vector, each of the shape of all lengths; indexing 'xy' swaps the first two axes."""
    tensors = _tensors(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if any(t.dim() > 1 for t in tensors):
        raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensors}")
    if any(t.dtype != tensors[0].dtype for t in tensors):
        raise RuntimeError("torch.meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors[0], tensors[1] = tensors[1], tensors[0]
    shape = [t.numel() for t in tensors]
    grids = [t.reshape([-1 if d == i else 1 for d in range(len(shape))]).expand(*shape) for i, t in enumerate(tensors)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


@composite(method=False, out=None)
def cartesian_prod(*tensors):
    """All tuples of one element per vector, as rows."""
    tensors = need_tensors(tensors)
    if any(t.dim() != 1 for t in tensors):
        raise RuntimeError("Expect a 1D vector, but got shape " + str([list(t.shape) for t in tensors]))
    if len(tensors) == 1:
        return tensors[0]
    return weir.stack([g.reshape(-1) for g in meshgrid(*tensors)], 1)


@composite(method=False, out=None)
def combinations(input: Tensor, r=2, with_replacement=False):
    """All r-element selections of a vector, as rows."""
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return weir.empty(0, dtype=input.dtype)
    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = weir.tensor(list(pick(range(input.numel()), r)), dtype=weir.int64).reshape(-1, r)
    return input.index_select(0, rows.reshape(-1)).reshape(rows.shape)


@composite(out=None)
def split_with_sizes(input: Tensor, split_sizes, dim=0):
    """Views of the given sizes along dim."""
    return input.split(list(split_sizes), dim)


@composite(out=None)
def unsafe_split(input: Tensor, split_size, dim=0):
    """As split, views too: in PyTorch too the parts share the memory."""
    return input.split(split_size, dim)


@composite(out=None)
def unsafe_chunk(input: Tensor, chunks, dim=0):
    """As chunk, views too: in PyTorch too the parts share the memory."""
    return input.chunk(chunks, dim)
