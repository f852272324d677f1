"""Makes sparse tensors of indices and values, and checks them where that is asked for."""
import weir
from weir import Tensor

from ._tensor import CompressedTensor, CooTensor, alias

_state = {"check": False}  # whether the order of compressed indices is checked; ranges are, unless told otherwise


class check_sparse_tensor_invariants:
    """Switches the checks of the order of indices on or off: as a scope, a decorator, or by `enable` and `disable`. They are off at first.

    Ranges of indices are always checked, which costs little, unless a constructor is called with check_invariants=False.

    Source: torch.sparse.check_sparse_tensor_invariants.
    """

    def __init__(self, enable=True):
        self.state, self.saved_state = enable, None

    @staticmethod
    def is_enabled():
        return _state["check"]

    @staticmethod
    def enable():
        _state["check"] = True

    @staticmethod
    def disable():
        _state["check"] = False

    def __enter__(self):
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager instance for context "
                               "nesting.")
        self.saved_state, _state["check"] = _state["check"], self.state
        return self

    def __exit__(self, *exc):
        _state["check"], self.saved_state = self.saved_state, None

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def inner(*args, **kwargs):
            with type(self)(self.state):
                return function(*args, **kwargs)
        return inner


def _checked(check_invariants):
    return _state["check"] if check_invariants is None else check_invariants


def _tensor(data, dtype=None):
    """data as a tensor, with the history that it has. A number becomes a tensor of one element."""
    t = data if isinstance(data, Tensor) else weir.as_tensor(data, dtype=dtype)
    t = t if dtype is None or t.dtype is dtype else t.to(dtype)
    return t.reshape(1) if t.dim() == 0 else t


def _owned(values, requires_grad):
    """The values of a new tensor: a leaf of its own, or with the history of the values given."""
    if requires_grad:
        if not (values.is_floating_point() or values.is_complex()):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return values.detach().requires_grad_()
    return alias(values) if values.requires_grad else values.detach()


def _is_size(x):
    return isinstance(x, (tuple, list)) and all(type(n) is int for n in x)


def sparse_coo_tensor(indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None, is_coalesced=None):
    """A tensor with `values` (nnz, *dense) at `indices` (sparse_dim, nnz); values of one place add up.

    `size` is the smallest that holds the indices unless given; alone it makes a tensor without entries. Gradients reach `values`.
    RuntimeError where shapes disagree or an index lies outside.
    Source: https://pytorch.org/docs/stable/generated/torch.sparse_coo_tensor.html
    """
    if indices is None and values is None and size is not None:
        indices, size = size, None
    if indices is None or values is None and size is not None:
        raise TypeError("sparse_coo_tensor(): needs indices and values, or a size alone")
    if values is None or _is_size(values) and size is None and not isinstance(indices, Tensor) and _is_size(indices) and not values:
        size, indices = tuple(indices), weir.zeros(len(indices), 0, dtype=weir.int64)
        values = weir.zeros(0, dtype=dtype or weir.get_default_dtype())
    if size is not None and not isinstance(size, (tuple, list)):
        raise TypeError(f"sparse_coo_tensor(): argument 'size' must be tuple of ints, not {type(size).__name__}")
    values, indices = _tensor(values, dtype), _tensor(indices)
    if indices.numel() == 0 and not indices.dtype.is_floating_point or indices.dtype is not weir.int64:
        indices = indices.to(weir.int64)
    if indices.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, nnz from values: "
                           f"{values.shape[0]}")
    sparse_dim = indices.shape[0]
    if size is None:
        lead = [0] * sparse_dim if not indices.shape[1] else (indices.amax(1) + 1).tolist()
        size = (*lead, *values.shape[1:])
        if indices.numel() and int(indices.amin()) < 0:
            at = int((indices.amin(1) < 0).nonzero()[0, 0])
            raise RuntimeError(f"found negative index {int(indices[at].amin())} for dim {at}")
    if len(size) != sparse_dim + values.dim() - 1:
        raise RuntimeError(f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = {sparse_dim}, "
                           f"dense_dim = {values.dim() - 1}")
    expected = [indices.shape[1], *size[sparse_dim:]]
    if list(values.shape) != expected:
        raise RuntimeError(f"values has incorrect size, expected {expected}, got {list(values.shape)}")
    made = CooTensor._make(indices.detach(), _owned(values, requires_grad), size, bool(is_coalesced))
    if check_invariants is not False:
        check_coo(made, is_coalesced and _checked(check_invariants))
    return made


def check_coo(s, is_coalesced=False):
    """RuntimeError where an index lies outside the size, or `is_coalesced` is claimed in vain."""
    from ._tensor import flat
    for dim, (row, size) in enumerate(zip(s._i, s.shape) if s._nnz() else ()):
        low, high = int(row.amin()), int(row.amax())
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= size:
            raise RuntimeError(f"size is inconsistent with indices: for dim {dim}, size is {size} but found index {high}")
    if is_coalesced and s._nnz() > 1:
        numbers = flat(s._i, s.shape)
        if not bool((numbers[1:] > numbers[:-1]).all()):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


_NAMES = (("crow_indices", "col_indices", "row"), ("ccol_indices", "row_indices", "column"))


def _compressed(axis, starts, places, values, size, dtype, requires_grad, check_invariants):
    values, starts, places = _tensor(values, dtype), _tensor(starts), _tensor(places)
    if starts.dim() != 1:
        raise NotImplementedError(f"sparse_cs{'rc'[axis]}_tensor: weir has no batches of tensors of layout torch.sparse_cs{'rc'[axis]}")
    if size is None:
        across = int(places.amax()) + 1 if places.numel() else 0
        lead = (starts.shape[0] - 1, across)
        size = (*(lead if axis == 0 else lead[::-1]), *values.shape[1:])
    made = CompressedTensor._make(axis, starts.detach(), places.detach(), _owned(values, requires_grad), size)
    _check_shapes(made, axis)
    if check_invariants is not False:
        check_compressed(made, _checked(check_invariants))
    return made


def _check_shapes(s, axis):
    """RuntimeError for what no use of the tensor would survive."""
    first, second, line = _NAMES[axis]
    if s.dim() != 2 + s.dense_dim():
        raise RuntimeError(f"tensor dimensionality must be sum of batch, base, and dense dimensionalities (=0 + 2 + {s.dense_dim()}) but got "
                           f"{s.dim()}")
    if s._places.shape != (s._nnz(),):
        raise RuntimeError(f"{second}.shape[-1] must be equal to nnz (={s._nnz()}) as defined by values.shape[0], but got "
                           f"{s._places.shape[0]}")
    if s._starts.shape[0] != s.shape[axis] + 1:
        raise RuntimeError(f"{first}.shape[-1] must be equal to the number of {line}s + 1 (={s.shape[axis] + 1}), but got {s._starts.shape[0]}")
    if s._starts.dtype is not s._places.dtype or s._starts.dtype not in (weir.int32, weir.int64):
        raise RuntimeError(f"{first} and {second} must have the same dtype, int32 or int64, but got {s._starts.dtype} and {s._places.dtype}")


def check_compressed(s, order):
    """RuntimeError for the first invariant of CSR or CSC that does not hold; that of the order where it is asked for."""
    first, second, line = _NAMES[s._axis]
    starts, places, across = s._starts, s._places, s.shape[1 - s._axis]
    if int(starts[0]) != 0:
        raise RuntimeError(f"`{first}[..., 0] == 0` is not satisfied.")
    if int(starts[-1]) != s._nnz():
        raise RuntimeError(f"`{first}[..., -1] == nnz` is not satisfied.")
    counts = starts[1:] - starts[:-1]
    if counts.numel() and not bool(((counts >= 0) & (counts <= across)).all()):
        raise RuntimeError(f"`0 <= {first}[..., 1:] - {first}[..., :-1] <= n{'rows' if s._axis else 'cols'}` is not satisfied.")
    if places.numel() and not 0 <= int(places.amin()) <= int(places.amax()) < across:
        raise RuntimeError(f"`0 <= {second} < n{'rows' if s._axis else 'cols'}` is not satisfied.")
    if not order:
        return
    number = weir.arange(counts.shape[0]).repeat_interleave(counts.long()) * across + places
    if number.shape[0] > 1 and not bool((number[1:] > number[:-1]).all()):
        raise RuntimeError(f"`{second}[..., {first}[..., i - 1]:{first}[..., i]] for all i = 1, ..., n{line[:3]}s are sorted and distinct along "
                           "the last dimension values` is not satisfied.")


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A matrix by rows: row i has values[crow[i]:crow[i + 1]] in the columns col[crow[i]:crow[i + 1]].

    crow_indices (rows + 1,), col_indices (nnz,), values (nnz, *dense). RuntimeError where shapes disagree or an index
    lies outside, and with check_invariants where columns of a row are not in order. NotImplementedError for batches. Source: https://pytorch.org/docs/stable/generated/torch.sparse_csr_tensor.html
    """
    return _compressed(0, crow_indices, col_indices, values, size, dtype, requires_grad, check_invariants)


def sparse_csc_tensor(ccol_indices, row_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
                      check_invariants=None):
    """A matrix by columns; see sparse_csr_tensor. Source: https://pytorch.org/docs/stable/generated/torch.sparse_csc_tensor.html"""
    return _compressed(1, ccol_indices, row_indices, values, size, dtype, requires_grad, check_invariants)


def sparse_compressed_tensor(compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None, device=None,
                             pin_memory=False, requires_grad=False, check_invariants=None):
    """sparse_csr_tensor or sparse_csc_tensor, by `layout`. NotImplementedError for blocks."""
    kind = str.__str__(layout) if layout is not None else None
    if kind not in ("sparse_csr", "sparse_csc"):
        raise NotImplementedError(f"sparse_compressed_tensor: weir has no tensors of layout torch.{kind}")
    return _compressed(int(kind == "sparse_csc"), compressed_indices, plain_indices, values, size, dtype, requires_grad, check_invariants)


def rebuild(layout, parts):
    """A tensor of `_parts`, from a pickle. RuntimeError where they do not fit."""
    if layout == "sparse_coo":
        indices, values, size, coalesced = parts if len(parts) == 4 else (*parts, None)
        return sparse_coo_tensor(indices, values, tuple(size), is_coalesced=coalesced, check_invariants=True)
    starts, places, values, size = parts
    make = sparse_csr_tensor if layout == "sparse_csr" else sparse_csc_tensor
    return make(starts, places, values, tuple(size))


def spdiags(diagonals, offsets, shape, layout=None):
    """The (m, n) matrix with rows of `diagonals` (d, length) on the diagonals `offsets` (d,), int64: COO, or the layout asked for.

    Column j of a row stands in column j of the matrix. RuntimeError for repeated offsets. Source: torch.sparse.spdiags.
    """
    diagonals, offsets = diagonals.reshape(-1, diagonals.shape[-1]), offsets.reshape(-1)
    if offsets.dtype is not weir.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long, but got {offsets.dtype}")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.shape[0] != diagonals.shape[0]:
        raise RuntimeError(f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.shape[0]})")
    if offsets.unique().shape[0] != offsets.shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    column = weir.arange(min(diagonals.shape[1], shape[1])).expand(offsets.shape[0], -1)
    row = column - offsets.unsqueeze(1)
    kept = ((row >= 0) & (row < shape[0])).reshape(-1).nonzero()[:, 0]
    indices = weir.stack([row.reshape(-1), column.reshape(-1)]).index_select(1, kept)
    values = diagonals[:, :column.shape[1]].reshape(-1).index_select(0, kept)
    made = sparse_coo_tensor(indices, values, tuple(shape))
    return made if layout is None or layout == weir.sparse_coo else made.to_sparse(layout=layout)
