"""Where the entries of a sparse matrix stand, sorted both ways at most once, and the product that this allows."""
import weir
from weir._C import ops
from weir.autograd import Function

_bag, _index_select = ops["torch"]["embedding_bag"], ops["torch"]["index_select"]
_zeros, _index_add = ops["torch"]["zeros"], ops["torch"]["index_add"]


def sorted_starts(numbers, count):
    """Where each of 0 .. count begins among sorted `numbers`: int64 (count + 1,). RuntimeError for numbers outside."""
    if numbers.numel() and (int(numbers[0]) < 0 or int(numbers[-1]) >= count):
        raise RuntimeError(f"sparse: an index is out of range for a size of {count}")
    starts = _zeros(count + 1, dtype=weir.int64)
    starts[1:] = ops["torch"]["bincount"](numbers, minlength=count)[:count].cumsum(0)
    return starts


def _convert_indices_from_coo_to_csr(input, size, *, out_int32=False):
    """Where each of `size` rows begins among the sorted row numbers `input`: (size + 1,)."""
    return sorted_starts(input, size).to(weir.int32 if out_int32 else weir.int64)


def _convert_indices_from_csr_to_coo(crow_indices, col_indices, *, out_int32=False, transpose=False):
    """Rows and columns (2, nnz) of the entries of a matrix by rows; columns and rows with `transpose`."""
    rows = weir.arange(crow_indices.shape[0] - 1).repeat_interleave(crow_indices.diff())
    both = weir.stack([col_indices, rows] if transpose else [rows, col_indices])
    return both.to(weir.int32) if out_int32 else both


class Pattern:
    """Rows and columns (int64, (nnz,)) of the entries of a matrix of `shape`.

    Tensors with the same indices share one, so that a graph's adjacency matrix is sorted once for all steps.
    """

    def __init__(self, row, col, shape, sorted_by_row=False, starts=None):
        self.row, self.col, self.shape = row, col, shape
        self._lines = [None, None]
        if sorted_by_row:
            self._lines[0] = (sorted_starts(row, shape[0]) if starts is None else starts, col, None)

    def lines(self, axis):
        """(starts, places along the other axis, order or None) of the entries sorted by row (axis 0) or column (1)."""
        if self._lines[axis] is None:
            along, across = (self.row, self.col) if axis == 0 else (self.col, self.row)
            order = along.argsort(stable=True)
            self._lines[axis] = (sorted_starts(_index_select(along, 0, order), self.shape[axis]), _index_select(across, 0, order), order)
        return self._lines[axis]


def _product(pattern, axis, values, dense):
    """The matrix (axis 0), or its transpose (1), times dense (n, k)."""
    if not pattern.row.numel() or not dense.numel():
        return _zeros(pattern.shape[axis], dense.shape[1], dtype=dense.dtype)
    if not dense.is_floating_point():  # the sums of bags are of floating numbers only
        along, across = (pattern.row, pattern.col) if axis == 0 else (pattern.col, pattern.row)
        terms = _index_select(dense, 0, across) * values.unsqueeze(1)
        return _index_add(_zeros(pattern.shape[axis], dense.shape[1], dtype=dense.dtype), 0, along, terms)
    starts, places, order = pattern.lines(axis)
    weights = values if order is None else _index_select(values, 0, order)
    return _bag(dense.contiguous(), places, starts, False, 0, False, weights.contiguous(), True, None)[0]


class SparseMM(Function):
    """The product and its gradients, each a product or a gather: differentiable any number of times."""

    @staticmethod
    def forward(ctx, pattern, axis, values, dense):
        ctx.pattern, ctx.axis = pattern, axis
        ctx.save_for_backward(values, dense)
        return _product(pattern, axis, values, dense)

    @staticmethod
    def backward(ctx, grad):
        values, dense = ctx.saved_tensors
        pattern, axis = ctx.pattern, ctx.axis
        along, across = (pattern.row, pattern.col) if axis == 0 else (pattern.col, pattern.row)
        of_values = of_dense = None
        if ctx.needs_input_grad[2]:
            of_values = (_index_select(grad, 0, along) * _index_select(dense, 0, across).conj()).sum(1)
        if ctx.needs_input_grad[3]:
            of_dense = SparseMM.apply(pattern, 1 - axis, values.conj(), grad)
        return None, None, of_values, of_dense


def multiply(pattern, values, dense):
    """The matrix times dense, (n, k) -> (m, k). RuntimeError where sizes or dtypes differ."""
    if dense.shape[0] != pattern.shape[1]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {pattern.shape[1]}, got {dense.shape[0]}")
    if values.dtype is not dense.dtype:
        raise RuntimeError(f"expected scalar type {_name(values)} but found {_name(dense)}")
    return SparseMM.apply(pattern, 0, values, dense)


def _name(t):
    return t.type().removeprefix("torch.").removesuffix("Tensor")
