"""The functions of torch.sparse."""
import weir

from . import _arithmetic, _products
from ._products import hspmm, smm  # noqa: F401
from ._rules import layouts
from ._tensor import CompressedTensor, CooTensor, is_sparse

_REDUCTIONS = {"mean": "mean", "amax": "amax", "amin": "amin", "max": "amax", "min": "amin"}


def mm(mat1, mat2, reduce=None):
    """mat1 @ mat2 where at least one is sparse; with `reduce` other than "sum", CSR times dense by mean, amax or amin of the products.

    Shapes (n, k) and (k, m) to (n, m), of one dtype. RuntimeError where they do not fit. Source: torch.sparse.mm.
    """
    if reduce is None or reduce == "sum":
        return _products.mm(mat1, mat2)
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"mm: reduce has to be sum, mean, amax or amin, got {reduce!r}")
    if not isinstance(mat1, CompressedTensor) or is_sparse(mat2):
        raise NotImplementedError(f"mm with reduce: weir has no formula for it on tensors of layout {layouts((mat1, mat2))}")
    pattern = _products.matrix(mat1, "mm")._matrix()
    terms = mat2.index_select(0, pattern.col) * mat1._v.unsqueeze(1)
    none = weir.zeros(mat1.shape[0], mat2.shape[1], dtype=mat2.dtype)
    return none.index_reduce(0, pattern.row, terms, _REDUCTIONS[reduce], include_self=False)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """beta mat + alpha mat1 @ mat2 with a sparse mat1; mat and the result are dense, (n, m)."""
    return _products.addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta input + alpha (mat1 @ mat2) at the places of input, a CSR matrix (n, m); mat1 (n, k) and mat2 (k, m) are dense."""
    if not isinstance(input, CompressedTensor) or input._axis:
        raise RuntimeError(f"sampled_addmm: Expected self to be a sparse CSR tensor, but got {input.layout}")
    if out is not None:
        raise NotImplementedError("sampled_addmm: weir has no out= for tensors of layout torch.sparse_csr")
    pattern = input._matrix()
    dots = (mat1.index_select(0, pattern.row) * mat2.t().index_select(0, pattern.col)).sum(1)
    return input._with(input._v * beta + dots * alpha)


def spmm(input, mat2):
    """torch.mm under its older name."""
    return _products.mm(input, mat2)


dsmm = spmm


def saddmm(input, mat1, mat2, *, beta=1, alpha=1):
    """torch.addmm under its older name."""
    return _products.addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def sum(input, dim=None, dtype=None):
    """The sum of a COO tensor over all elements or over `dim`, an int or several: sparse while a sparse dim is left, else dense.

    RuntimeError for other layouts. Source: torch.sparse.sum.
    """
    if not isinstance(input, CooTensor):
        kind = "Strided" if not is_sparse(input) else "SparseCsc" if input._axis else "SparseCsr"
        raise RuntimeError(f"coalesce expected sparse coordinate tensor layout but got {kind}")
    return _arithmetic.sum(input, dim, dtype=dtype)


def softmax(input, dim, *, dtype=None):
    """Softmax along `dim` over the entries that are stored: one that is not counts as minus infinity. COO to coalesced COO.

    NotImplementedError for other layouts. Source: torch.sparse.softmax.
    """
    return _arithmetic.softmax(input, dim, dtype, False)


def log_softmax(input, dim, *, dtype=None):
    """The logarithm of `softmax`."""
    return _arithmetic.softmax(input, dim, dtype, True)


def as_sparse_gradcheck(gradcheck):
    """gradcheck, whose inputs may not be sparse here. NotImplementedError for those that are."""
    def check(func, inputs, **options):
        if any(map(is_sparse, inputs if isinstance(inputs, (tuple, list)) else (inputs,))):
            raise NotImplementedError("gradcheck: weir has none for sparse inputs; check a function of their values")
        return gradcheck(func, inputs, **options)
    return check
