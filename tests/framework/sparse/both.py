"""Runs one program with PyTorch and with weir and compares what it returns: parts of sparse tensors, numbers, errors' types."""

import warnings

import numpy as np
import pytest
import torch
import weir

warnings.filterwarnings("ignore", message="Sparse")


def parts(x):
    """A result as plain data: layout and parts of a tensor, containers item by item."""
    if isinstance(x, (tuple, list)) and not isinstance(x, (torch.Size, weir.Size)):
        return [parts(item) for item in x]
    if not isinstance(x, (torch.Tensor, weir.Tensor)):
        return tuple(x) if isinstance(x, (torch.Size, weir.Size)) else x
    x = x.detach()
    head = [str(x.layout), tuple(x.shape), str(x.dtype), str(x.device)]
    if head[0] == "torch.strided":
        return [*head, x.numpy()]
    if head[0] == "torch.sparse_coo":
        x = x.coalesce()  # how often a place comes before is chance
        return [*head, x.sparse_dim(), x._nnz(), x._indices().numpy(), x._values().numpy()]
    first, second = ("ccol_indices", "row_indices") if head[0] == "torch.sparse_csc" else ("crow_indices", "col_indices")
    return [*head, x._nnz(), getattr(x, first)().numpy(), getattr(x, second)().numpy(), x.values().numpy()]


def _equal(ours, theirs, rtol):
    if isinstance(ours, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            _equal(a, b, rtol)
    elif isinstance(ours, np.ndarray):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-6)
    else:
        assert ours == theirs


def same(program, rtol=1e-5):
    """program(torch) and program(weir) return the same, or raise errors of one type; weir may answer what PyTorch does not implement."""
    torch.manual_seed(0)
    weir.manual_seed(0)
    try:
        theirs = parts(program(torch))
    except Exception as error:
        if isinstance(error, NotImplementedError) or "unsupported tensor layout" in str(error):
            return
        with pytest.raises(type(error)):
            program(weir)
        return
    _equal(parts(program(weir)), theirs, rtol)


def coo(t, coalesced=False, **options):
    """A 2 x 3 matrix with one place that comes twice."""
    s = t.sparse_coo_tensor(t.tensor([[0, 1, 1, 0], [2, 0, 2, 2]]), t.tensor([3., 4., 5., 6.]), (2, 3))
    return (s.coalesce() if coalesced else s).requires_grad_(options.get("requires_grad", False))


def hybrid(t):
    """Two sparse dims and one dense."""
    return t.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], t.arange(6.).reshape(3, 2) + 1, (2, 3, 2))
