"""Products of matrices of which one or both are sparse."""
import weir
from weir import Tensor

from ._pattern import Pattern, multiply, sorted_starts
from ._places import as_coo, like, transpose
from ._rules import layouts, rule
from ._tensor import CooTensor, is_sparse


def matrix(s, name):
    """s, checked to be a matrix. RuntimeError for other ranks and for dense dims."""
    if s.dim() != 2 or s.dense_dim():
        raise RuntimeError(f"{name}: expected a matrix of two sparse dims, got {s.sparse_dim()} sparse and {s.dense_dim()} dense dims")
    return s


def _times_dense(s, dense):
    return multiply(matrix(s, "addmm")._matrix(), s._v, dense)


def _times_sparse(a, b):
    """Every entry (i, k) of a meets the entries of b's row k; the sums are coalesced."""
    a, b = as_coo(matrix(a, "mm")), as_coo(matrix(b, "mm"))
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"mm: Argument #2: Expected dim 0 size {a.shape[1]}, got {b.shape[0]}")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {a.dtype} but found {b.dtype}")
    b = b.coalesce()
    starts = sorted_starts(b._i[0], b.shape[0])
    counts = (starts[1:] - starts[:-1]).index_select(0, a._i[1])
    left = weir.arange(a._nnz()).repeat_interleave(counts)
    within = weir.arange(left.shape[0]) - (counts.cumsum(0) - counts).index_select(0, left)
    right = starts.index_select(0, a._i[1]).index_select(0, left) + within
    values = a._v.index_select(0, left) * b._v.index_select(0, right)
    indices = weir.stack([a._i[0].index_select(0, left), b._i[1].index_select(0, right)])
    return CooTensor._make(indices, values, (a.shape[0], b.shape[1])).coalesce()


@rule("mm")
def mm(input, mat2):
    """(n, k) times (k, m): dense where one factor is dense, sparse in the first's layout where both are sparse."""
    if not (isinstance(input, Tensor) and isinstance(mat2, Tensor)):
        raise TypeError("mm(): expected two tensors")
    if is_sparse(input) and is_sparse(mat2):
        return like(_times_sparse(input, mat2), input)
    if is_sparse(input):
        if mat2.dim() != 2:
            raise RuntimeError(f"mm: expected a matrix, got a {mat2.dim()}-d tensor")
        return _times_dense(input, mat2)
    if is_sparse(mat2):
        if input.dim() != 2:
            raise RuntimeError(f"mm: expected a matrix, got a {input.dim()}-d tensor")
        return _times_dense(_flipped(mat2), input.t()).t()
    return weir.mm(input, mat2)


def _flipped(s):
    """s transposed, whose pattern keeps what s's has sorted."""
    flipped = transpose(matrix(s, "mm"), 0, 1)
    if flipped._pattern is None:
        own = s._matrix()
        if not hasattr(own, "flipped"):
            own.flipped = Pattern(own.col, own.row, own.shape[::-1])
            own.flipped._lines = own._lines[::-1]
        flipped._pattern = own.flipped
    return flipped


@rule("mv")
def mv(input, vec):
    """(n, m) times (m,)."""
    if is_sparse(vec) or vec.dim() != 1:
        raise NotImplementedError(f"mv: weir has no formula for it on tensors of layout {layouts((input, vec))} and {vec.dim()} dims")
    if input.shape[-1] != vec.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    return _times_dense(input, vec.unsqueeze(1)).squeeze(1)


@rule("matmul")
def matmul(input, other):
    """Products of matrices and vectors; a dense factor on the left may have batch dims, three dims stand for batches."""
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise TypeError("matmul(): expected two tensors")
    if is_sparse(input) and other.dim() == 1 and input.dim() == 2:
        return mv(input, other)
    if is_sparse(input) and input.dim() == 3 and other.dim() == 3:
        return bmm(input, other)
    if not is_sparse(input) and other.dim() == 2 and input.dim() != 2:
        rows = input.reshape(-1, input.shape[-1])
        return mm(rows, other).reshape(*input.shape[:-1], other.shape[1])
    if input.dim() != 2 or other.dim() != 2:
        raise NotImplementedError(f"matmul: weir has no formula for it on tensors of layout {layouts((input, other))} with {input.dim()} and "
                                  f"{other.dim()} dims")
    return mm(input, other)


@rule("bmm")
def bmm(input, mat2):
    """Sparse COO (b, n, k) times dense (b, k, m): one product of the matrix that has the batches along its diagonal."""
    if not isinstance(input, CooTensor) or is_sparse(mat2) or input.dim() != 3 or input.dense_dim():
        raise NotImplementedError(f"bmm: weir has no formula for it on tensors of layout {layouts((input, mat2))}")
    batch, rows, inner = input.shape
    if mat2.shape[:2] != (batch, inner):
        raise RuntimeError(f"bmm: Argument #2: Expected size {[batch, inner]} of the first dims, got {list(mat2.shape[:2])}")
    at, row, col = input._i
    pattern = Pattern(at * rows + row, at * inner + col, (batch * rows, batch * inner))
    return multiply(pattern, input._v, mat2.reshape(batch * inner, -1)).reshape(batch, rows, mat2.shape[2])


@rule("addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta input + alpha mat1 @ mat2."""
    product = mm(mat1, mat2)
    product = product if type(alpha) is int and alpha == 1 else product * alpha
    scaled = input if type(beta) is int and beta == 1 else input * beta
    return scaled + product if not is_sparse(scaled) or is_sparse(product) else product + scaled


@rule("addmm_")
def addmm_(input, mat1, mat2, *, beta=1, alpha=1):
    """addmm in place of a dense input."""
    return input.copy_(addmm(input, mat1, mat2, beta=beta, alpha=alpha))


@rule("linear")
def linear(input, weight, bias=None):
    """input @ weight.T + bias, where either factor may be sparse."""
    product = matmul(input, weight.t())
    return product if bias is None else product + bias


@rule("hspmm")
def hspmm(mat1, mat2):
    """Sparse times dense, as a tensor that stores the rows that mat1 has entries in: one sparse dim, one dense."""
    product = mm(mat1, mat2)
    rows = as_coo(mat1)._i[0].unique()
    return CooTensor._make(rows.unsqueeze(0), product.index_select(0, rows), product.shape, True)


@rule("smm")
def smm(input, mat):
    """Sparse times dense, with an entry for every element of the rows that input has entries in."""
    rows = hspmm(input, mat)
    count, columns = rows._nnz(), rows.shape[1]
    indices = weir.stack([rows._i[0].repeat_interleave(columns), weir.arange(columns).repeat(count)])
    return CooTensor._make(indices, rows._v.reshape(-1), rows.shape, True)
