"""Joining, grids, selections and triangles against PyTorch's. Kernels: framework/kernels/cpu/join.cpp."""

import pytest
import torch
import weir
from twins import assert_same

N, V, A, T = torch.randn(()), torch.randn(3), torch.randn(3, 4), torch.randn(2, 3, 4)

CALLS = {
    "hstack": (lambda t, a, b: t.hstack([a, b]), A, torch.randn(3, 2)), "hstack of vectors": (lambda t, a, b: t.hstack((a, b)), N, V),
    "vstack": (lambda t, a, b: t.vstack([a, b]), A, torch.randn(4)), "row_stack": (lambda t, a: t.row_stack([a, a]), V), "dstack": (lambda t, a, b: t.dstack([a, b]), A, A * 2),
    "dstack of vectors": (lambda t, a: t.dstack([a, a]), V), "column_stack": (lambda t, a, b: t.column_stack([a, b, a]), V, A), "hstack of none": (lambda t: t.hstack([]),),
    "concat": (lambda t, a: t.concat([a, a], dim=1), A), "atleast": (lambda t, n, a: [*t.atleast_1d(n, a), *t.atleast_2d([n, a]), *t.atleast_3d(n, a)], N, A),
    "atleast_3d of a vector": (lambda t, a: t.atleast_3d(a), V), "tile": (lambda t, a: t.tile(a, (2, 1, 3)), A), "tile less": (lambda t, a: a.tile(2), A),
    "block_diag": (lambda t, n, v, a: t.block_diag(a, v, n), N, V, A), "block_diag of integers": (lambda t, a: t.block_diag(a.long(), a), A.detach()),
    "block_diag of nothing": (lambda t: t.block_diag(),), "block_diag of three axes": (lambda t, a: t.block_diag(a), T),
    "block_diag of a list": (lambda t, a: t.block_diag([a, a]), A), "block_diag by name": (lambda t, a: t.block_diag(tensors=[a]), A),
    "block_diag of a number": (lambda t, a: t.block_diag(a, 3), A), "meshgrid of a list": (lambda t, a: t.meshgrid([a, a], indexing="xy"), V),
    "chain_matmul": (lambda t, a: t.chain_matmul(a, a.mT, a), A), "chain_matmul of one": (lambda t, a: t.chain_matmul(a), A),
    "broadcast_tensors": (lambda t, a, b: t.broadcast_tensors(a, b), V.reshape(3, 1), T), "broadcast_tensors that do not": (lambda t, a, b: t.broadcast_tensors(a, b), V, A),
    "broadcast_to": (lambda t, a: t.broadcast_to(a, (2, 3)), V),
    "meshgrid": (lambda t, a, b, c: t.meshgrid(a, b, c, indexing="ij"), V, torch.randn(2), torch.randn(4)),
    "meshgrid xy": (lambda t, a, b, c: t.meshgrid(a, b, c, indexing="xy"), V, torch.randn(2), torch.randn(4)), "meshgrid of a number": (lambda t, a, n: t.meshgrid(a, n, indexing="xy"), V, N),
    "meshgrid ab": (lambda t, a: t.meshgrid(a, indexing="ab"), V), "meshgrid of matrices": (lambda t, a: t.meshgrid(a, indexing="ij"), A),
    "cartesian_prod": (lambda t, a, b: t.cartesian_prod(a, b), V, torch.randn(2)), "cartesian_prod of one": (lambda t, a: t.cartesian_prod(a), V),
    "combinations": (lambda t, a: t.combinations(a), torch.randn(5)), "combinations of three": (lambda t, a: t.combinations(a, 3), torch.randn(6)),
    "combinations of one": (lambda t, a: [t.combinations(a, 1), t.combinations(a[::2], 1, True)], torch.randn(6)), "combinations again": (lambda t, a: t.combinations(a, 3, with_replacement=True), torch.randn(4)), "combinations of too many": (lambda t, a: t.combinations(a, 4), V),
    "combinations of none": (lambda t, a: t.combinations(a, 0), V), "combinations of nothing": (lambda t, a: t.combinations(a[:0], 2, True), V),
    "split_with_sizes": (lambda t, a: t.split_with_sizes(a, [1, 2], 0), A), "unsafe_chunk": (lambda t, a: t.unsafe_chunk(a, 2, 1), A),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(call, *(x.clone().requires_grad_() for x in inputs), order=1)


@pytest.mark.parametrize("row, col", [(0, 3), (3, 0), (1, 1), (4, 2), (2, 5), (-1, 2)])
@pytest.mark.parametrize("offset", [-7, -2, -1, 0, 1, 3, 9])
def test_triangles(row, col, offset):
    assert_same(lambda t: t.tril_indices(row, col, offset))
    assert_same(lambda t: t.triu_indices(row, col, offset, dtype=t.int32))


@pytest.mark.parametrize("size", [2**40, 2**62])
def test_triangles_of_absurd_size_are_refused(size):
    with pytest.raises(RuntimeError):
        weir.triu_indices(size, size)


@pytest.mark.parametrize("row, offset", [(2 ** 63 - 1, 0), (2 ** 63 - 1, 3), (2 ** 40, 3), (2 ** 40, -2)])
def test_triangles_of_countless_rows_without_elements(row, offset):
    assert_same(lambda t: t.triu_indices(row, 2, offset))
    assert_same(lambda t: t.tril_indices(2 ** 40, 1, 3 - 2 ** 40))
