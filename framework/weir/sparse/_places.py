"""Layouts into each other, and rules that move entries: transposing, selecting, joining, masking, copying."""
import weir
from weir import Tensor

from ._rules import call, layouts, rule
from ._tensor import CompressedTensor, CooTensor, alias, flat, is_sparse, unflat


# ---- layouts ----
def as_coo(s):
    """The same entries at coordinates, with the very values of s."""
    if isinstance(s, CooTensor):
        return s
    pattern = s._matrix()
    return CooTensor._make(weir.stack([pattern.row, pattern.col]), s._v, s.shape, s._axis == 0, pattern)


def like(coo, s):
    """coo in the layout of s."""
    return coo if isinstance(s, CooTensor) else compressed(coo, s._axis)


def compressed(coo, axis):
    """coo, of two sparse dims, as CSR (axis 0) or CSC (1). RuntimeError for other ranks."""
    if coo.sparse_dim() != 2:
        raise RuntimeError(f"to_sparse_cs{'c' if axis else 'r'}: expected two sparse dims, got {coo.sparse_dim()}; batches are not supported")
    from ._pattern import Pattern, sorted_starts
    c = coo.coalesce()
    row, col = c._i
    if axis == 0:
        starts = sorted_starts(row, c.shape[0])
        return CompressedTensor._make(0, starts, col, alias(c._v), c.shape, Pattern(row, col, tuple(c.shape[:2]), True, starts))
    order = col.argsort(stable=True)
    row, col = row.index_select(0, order), col.index_select(0, order)
    return CompressedTensor._make(1, sorted_starts(col, c.shape[1]), row, c._v.index_select(0, order), c.shape)


def _from_dense(t, sparse_dim):
    """The entries of a dense tensor that are not zero; with fewer sparse dims, the slices that are not all zero."""
    rank = t.dim()
    if sparse_dim is None:
        sparse_dim = rank
    if not 0 <= sparse_dim <= rank:
        raise RuntimeError(f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but {sparse_dim} is given")
    if rank and not sparse_dim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    lead = t.shape[:sparse_dim]
    rows = t.reshape(lead.numel(), *t.shape[sparse_dim:])
    kept = (rows.detach().reshape(lead.numel(), -1) != 0).any(1).nonzero()[:, 0] if rows.numel() else weir.zeros(0, dtype=weir.int64)
    return CooTensor._make(unflat(kept, lead), rows.index_select(0, kept), t.shape, True)


@rule("to_sparse")
def to_sparse(input, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """input in a sparse layout, COO unless told. NotImplementedError for blocks.

    Source: https://pytorch.org/docs/stable/generated/torch.Tensor.to_sparse.html
    """
    if isinstance(sparse_dim, str):  # a layout
        sparse_dim, layout = None, sparse_dim
    kind = "sparse_coo" if layout is None else str.__str__(layout)
    if kind not in ("sparse_coo", "sparse_csr", "sparse_csc"):
        raise NotImplementedError(f"to_sparse: weir has no tensors of layout torch.{kind}")
    if is_sparse(input) and str.__str__(input.layout) == kind:
        return input
    if kind == "sparse_coo":
        return as_coo(input) if is_sparse(input) else _from_dense(input, sparse_dim)
    if not is_sparse(input):
        input = _from_dense(input, input.dim() - (dense_dim or 0))
    return compressed(as_coo(input), int(kind == "sparse_csc"))


rule("to_sparse_coo")(lambda input: to_sparse(input))
rule("to_sparse_csr")(lambda input, dense_dim=None: to_sparse(input, layout="sparse_csr", dense_dim=dense_dim))
rule("to_sparse_csc")(lambda input, dense_dim=None: to_sparse(input, layout="sparse_csc", dense_dim=dense_dim))


def _only_coo(name):
    def method(input, *args, **kwargs):
        kind = "Strided" if not is_sparse(input) else "SparseCsc" if input.layout == "sparse_csc" else "SparseCsr"
        raise RuntimeError(f"{name} expected sparse {'' if name == 'values' else 'coordinate '}tensor layout but got {kind}")
    return method


for _name in ("coalesce", "is_coalesced", "indices", "values"):
    rule(_name)(_only_coo(_name))


def _only_compressed(name, kind):
    def method(input):
        raise RuntimeError(f"{name} expected sparse {kind} compressed tensor layout but got {'Sparse' if is_sparse(input) else 'Strided'}")
    return method


for _name in ("crow_indices", "col_indices", "ccol_indices", "row_indices"):
    rule(_name)(_only_compressed(_name, "column" if _name in ("ccol_indices", "row_indices") else "row"))


# ---- copies ----
@rule("clone")
def clone(input, *, memory_format=None):
    """A copy of places and values."""
    if isinstance(input, CooTensor):
        return CooTensor._make(input._i.clone(), input._v.clone(), input.shape, input._coalesced)
    return CompressedTensor._make(input._axis, input._starts.clone(), input._places.clone(), input._v.clone(), input.shape)


@rule("as_tensor", "asarray")
def as_tensor(data, dtype=None, device=None):
    """data itself, or in another dtype."""
    return data.to(dtype=dtype, device=device)


@rule("tensor")
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A copy without history."""
    return clone(data.detach().to(dtype=dtype)).requires_grad_(requires_grad)


@rule("copy_")
def copy_(input, src, non_blocking=False):
    """src's entries in input. RuntimeError between dense and sparse tensors."""
    if not (is_sparse(input) and is_sparse(src)):
        raise RuntimeError(f"copy_() between dense and sparse Tensors is not implemented! Found self type = {input.type()} and src type = "
                           f"{src.type()}")
    if input.layout != src.layout:
        raise NotImplementedError(f"copy_: weir has no formula for it on tensors of layout {layouts((input, src))}")
    return input._become(clone(src.to(input.dtype)))


def _nothing(input, shape, dtype, coo):
    values = weir.zeros((0, *input._v.shape[1:]) if coo else (0,), dtype=dtype or input.dtype)
    if isinstance(input, CompressedTensor) and len(shape) == 2:
        starts = weir.zeros(shape[input._axis] + 1, dtype=input._starts.dtype)
        return CompressedTensor._make(input._axis, starts, weir.zeros(0, dtype=starts.dtype), values, shape)
    rank = input.sparse_dim() if coo else len(shape)
    return CooTensor._make(weir.zeros(rank, 0, dtype=weir.int64), values, shape, True)


@rule("zeros_like", "empty_like")
def zeros_like(input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None):
    """A tensor of input's shape and layout without entries; dense where `layout` asks for it."""
    if layout is not None and layout == weir.strided:
        dense = weir.zeros(input.shape, dtype=dtype or input.dtype)
        dense = dense if memory_format in (None, weir.preserve_format) else dense.contiguous(memory_format=memory_format)
        return dense.requires_grad_(requires_grad)
    if memory_format is not None:
        raise RuntimeError("memory format option is only supported by strided tensors")
    return _nothing(input, input.shape, dtype, True).requires_grad_(requires_grad)


@rule("new_zeros", "new_empty")
def new_zeros(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the given size, in input's layout, without entries."""
    size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return _nothing(input, tuple(size), dtype, False).requires_grad_(requires_grad)


@rule("zero_")
def zero_(input):
    """Forgets all entries, in place."""
    return input._become(zeros_like(input))


@rule("sparse_resize_")
def sparse_resize_(input, size, sparse_dim, dense_dim):
    """Another size in place, with the same entries. RuntimeError where the numbers of dims change while there are entries."""
    if (sparse_dim, dense_dim) != (input.sparse_dim(), input.dense_dim()) or list(size[sparse_dim:]) != list(input.shape[sparse_dim:]):
        raise NotImplementedError(f"sparse_resize_: weir keeps the dims of entries, on tensors of layout {layouts((input,))}")
    if input._nnz() and list(size) < list(input.shape):
        raise RuntimeError("shrinking the size of sparse dimensions on a non-empty sparse tensor is not supported")
    return input._become(CooTensor._make(input._i, input._v, tuple(size), input._coalesced))


@rule("type")
def type_(input, dtype=None, non_blocking=False):
    """The type's name, or input cast to dtype."""
    if dtype is None:
        return input._v.type().replace("torch.", "torch.sparse.")
    return input._with(input._v.type(dtype))


# ---- dims ----
def _wrapped(dim, rank):
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


@rule("permute")
def permute(input, *places, dims=None):
    """Dims in another order; sparse ones stay first."""
    dims = places if dims is None else (dims,)
    dims = [_wrapped(d, input.dim()) for d in (dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)]
    s, count = as_coo(input), input.sparse_dim()
    if sorted(dims) != list(range(input.dim())):
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
                           f"dimensions i.e. input.dim() = {input.dim()} is not equal to len(dims) = {len(dims)}")
    if dims == list(range(input.dim())):
        return input._with(alias(input._v))
    if sorted(dims[:count]) != list(range(count)):
        raise RuntimeError("transpose and permute of sparse tensors: sparse dims can only change places with sparse dims")
    if isinstance(input, CompressedTensor):  # the same entries, read the other way
        return CompressedTensor._make(1 - input._axis, input._starts, input._places, alias(input._v), [input.shape[d] for d in dims])
    values = alias(s._v.permute(0, *(d - count + 1 for d in dims[count:])))
    return CooTensor._make(s._i[dims[:count]], values, [input.shape[d] for d in dims])


@rule("transpose")
def transpose(input, dim0, dim1):
    """Two dims change places, both sparse or both dense."""
    a, b, count = _wrapped(dim0, input.dim()), _wrapped(dim1, input.dim()), input.sparse_dim()
    if (a < count) != (b < count):
        raise RuntimeError(f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {count}, d0: {a}, d1: {b}")
    dims = list(range(input.dim()))
    dims[a], dims[b] = b, a
    return permute(input, dims)


@rule("t")
def t(input):
    """The transposed matrix: CSR becomes CSC."""
    if input.sparse_dim() > 2 or input.dense_dim():
        raise RuntimeError(f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim()} sparse and "
                           f"{input.dense_dim()} dense dimensions")
    return transpose(input, 0, 1) if input.dim() == 2 else input


@rule("unsqueeze")
def unsqueeze(input, dim):
    """A new dim of size 1; sparse where it lies among sparse dims."""
    s, dim, count = _coo_only(input, "unsqueeze"), _wrapped(dim, input.dim() + 1), input.sparse_dim()
    shape = [*input.shape[:dim], 1, *input.shape[dim:]]
    if dim > count:
        return CooTensor._make(s._i, s._v.unsqueeze(dim - count + 1), shape, s._coalesced)
    row = weir.zeros(1, s._nnz(), dtype=weir.int64)
    return CooTensor._make(weir.cat([s._i[:dim], row, s._i[dim:]]), alias(s._v), shape)


def _coo_only(input, name):
    if not isinstance(input, CooTensor):
        raise NotImplementedError(f"{name}: weir has no formula for it on tensors of layout {layouts((input,))}")
    return input


# ---- entries ----
@rule("select")
def select(input, dim, index):
    """The slice at index along dim; dense where no sparse dim is left."""
    s, dim, count = as_coo(input), _wrapped(dim, input.dim()), input.sparse_dim()
    size = input.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}")
    index %= size
    shape = [n for d, n in enumerate(input.shape) if d != dim]
    if dim >= count:
        return CooTensor._make(s._i, s._v.select(dim - count + 1, index), shape, s._coalesced)
    kept = (s._i[dim] == index).nonzero()[:, 0]
    values = s._v.index_select(0, kept)
    if count == 1:
        return values.sum(0)
    left = [d for d in range(count) if d != dim]
    return CooTensor._make(s._i[left].index_select(1, kept), values, shape, s._coalesced)


@rule("index_select")
def index_select(input, dim, index):
    """The slices at `index` (n,) along dim, in that order. IndexError for one out of range."""
    s, dim, count = _coo_only(input, "index_select"), _wrapped(dim, input.dim()), input.sparse_dim()
    size = input.shape[dim]
    index = weir.where(index < 0, index + size, index).to(weir.int64)
    wrong = ((index < 0) | (index >= size)).nonzero()
    if wrong.numel():
        raise IndexError(f"index_select(): index contains {int(index[wrong[0, 0]])} that is out of range for tensor of size {list(input.shape)} "
                         f"at dimension {dim}")
    shape = [len(index) if d == dim else n for d, n in enumerate(input.shape)]
    if dim >= count:
        return CooTensor._make(s._i, s._v.index_select(dim - count + 1, index), shape, s._coalesced)
    from ._pattern import sorted_starts
    order = s._i[dim].argsort(stable=True)
    starts = sorted_starts(s._i[dim].index_select(0, order), size)
    counts = (starts[1:] - starts[:-1]).index_select(0, index)
    place = weir.arange(len(index)).repeat_interleave(counts)
    within = weir.arange(place.shape[0]) - (counts.cumsum(0) - counts).index_select(0, place)
    entry = order.index_select(0, starts.index_select(0, index).index_select(0, place) + within)
    indices = s._i.index_select(1, entry)
    indices[dim] = place
    picked = CooTensor._make(indices, s._v.index_select(0, entry), shape)
    return picked.coalesce() if s._coalesced else picked


@rule("unbind")
def unbind(input, dim=0):
    """All slices along dim."""
    return tuple(select(input, dim, i) for i in range(input.shape[_wrapped(dim, input.dim())]))


@rule("__len__")
def length(input):
    """The size of the first dim."""
    if not input.dim():
        raise TypeError("len() of a 0-d tensor")
    return input.shape[0]


@rule("__getitem__")
def getitem(input, key):
    """Slices by numbers, whole dims (`:`), `...` and None. NotImplementedError for parts of dims and tensors."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in keys:
        at = keys.index(Ellipsis)
        keys[at:at + 1] = [slice(None)] * (input.dim() - sum(k is not None for k in keys) + 1)
    dim = 0
    for k in keys:
        if isinstance(k, slice) and k == slice(None):
            dim += 1
        elif k is None:
            input, dim = call("unsqueeze", (input, dim), {}) if is_sparse(input) else input.unsqueeze(dim), dim + 1
        elif isinstance(k, int) or isinstance(k, Tensor) and k.dim() == 0 and k.dtype is weir.int64:
            input = input.select(dim, int(k))
        else:
            raise NotImplementedError(f"indexing by {type(k).__name__}: weir has no formula for it on tensors of layout {layouts((input,))}")
    return input


@rule("cat")
def cat(tensors, dim=0):
    """Tensors one after the other along dim. RuntimeError where one is dense."""
    dense = [n for n, s in enumerate(tensors) if not is_sparse(s)]
    if dense:
        raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {dense[0]}.")
    parts = [_coo_only(s, "cat") for s in tensors]
    first = parts[0]
    dim, count = _wrapped(dim, first.dim()), first.sparse_dim()
    sizes = [s.shape[dim] for s in parts]
    shape = [sum(sizes) if d == dim else n for d, n in enumerate(first.shape)]
    for n, s in enumerate(parts):
        if s.sparse_dim() != count or [*s.shape[:dim], *s.shape[dim + 1:]] != [*shape[:dim], *shape[dim + 1:]]:
            raise RuntimeError(f"cat: Sizes of tensors must match except in dimension {dim}. Expected {list(first.shape)} but got "
                               f"{list(s.shape)} for tensor number {n} in the list")
    starts = [sum(sizes[:n]) for n in range(len(parts))]
    if dim < count:
        moved = []
        for s, start in zip(parts, starts):
            moved.append(s._i.clone())
            moved[-1][dim] += start
        return CooTensor._make(weir.cat(moved, 1), weir.cat([s._v for s in parts]), shape)
    padded = []
    for s, start in zip(parts, starts):
        sides = [weir.zeros((s._nnz(), *s.shape[count:dim], n, *s.shape[dim + 1:]), dtype=s.dtype) for n in
                 (start, shape[dim] - start - s.shape[dim])]
        padded.append(weir.cat([sides[0], s._v, sides[1]], dim - count + 1))
    return CooTensor._make(weir.cat([s._i for s in parts], 1), weir.cat(padded), shape)


@rule("stack")
def stack(tensors, dim=0):
    """Tensors of one shape along a new dim."""
    return cat([unsqueeze(s, dim) for s in tensors], dim)


@rule("vstack", "row_stack")
def vstack(tensors):
    """Matrices above each other."""
    return cat(tensors, 0)


@rule("hstack", "column_stack")
def hstack(tensors):
    """Matrices side by side."""
    return cat(tensors, 1)


@rule("sparse_mask")
def sparse_mask(input, mask):
    """input's elements at the places of mask, a sparse tensor whose values do not matter."""
    if not is_sparse(mask):
        raise RuntimeError(f"sparse_mask(): expected mask to have a sparse layout, got {mask.layout}")
    if input.shape != mask.shape:
        raise RuntimeError(f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size "
                           f"{list(mask.shape)}")
    if is_sparse(input):
        return _mask_sparse(as_coo(input).coalesce(), mask)
    at = tuple(as_coo(mask)._i)
    return mask._with(input[at] if at else input.unsqueeze(0))


def _mask_sparse(s, mask):
    places = as_coo(mask).coalesce()
    zeros = places._with(weir.zeros(places._v.shape, dtype=s.dtype))
    kept = call("mul", (s, places._with(weir.ones(places._v.shape, dtype=s.dtype))), {})
    at = weir.searchsorted(flat(places._i, mask.shape), flat(kept._i, mask.shape))
    return like(zeros._with(zeros._v.index_add(0, at, kept._v)), mask)



@rule("__dlpack__")
def _export(input, **options):
    raise BufferError("Can't export tensors with layout other than torch.strided")
