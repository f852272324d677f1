"""Turning, diagonals and writes at the place of a view against PyTorch's. Kernel: framework/kernels/cpu/rearrange.cpp."""

import pytest
import torch
from twins import assert_same

V, A, T = torch.randn(3), torch.randn(3, 4), torch.randn(2, 3, 4)

CALLS = {
    "fliplr": (lambda t, a: t.fliplr(a), T), "fliplr of a vector": (lambda t, a: t.fliplr(a), V), "flipud": (lambda t, a: t.flipud(a), T),
    **{f"rot90 by {k}": (lambda t, a, k=k: t.rot90(a, k, (0, 2)), T) for k in (-1, 0, 1, 2, 3, 7)}, "rot90": (lambda t, a: t.rot90(a), A),
    "rot90 in a line": (lambda t, a: t.rot90(a, 1, (0, -2)), A), "rot90 of a vector": (lambda t, a: t.rot90(a), V),
    "diag_embed": (lambda t, a: t.diag_embed(a), A), "diag_embed elsewhere": (lambda t, a: t.diag_embed(a, -2, 0, 2), A), "diag_embed on one axis": (lambda t, a: t.diag_embed(a, 0, 1, -2), A),
    "diag": (lambda t, a: t.diag(a, 1), V), "diag of a matrix": (lambda t, a: t.diag(a, -1), A), "diag of more": (lambda t, a: t.diag(a), T), "diagflat": (lambda t, a: t.diagflat(a, -1), A),
    "diagonal_scatter": (lambda t, a, b: t.diagonal_scatter(a, b[:3]), A, torch.randn(4)), "diagonal_scatter elsewhere": (lambda t, a, b: t.diagonal_scatter(a, b, 1, 2, 0), T, torch.randn(3, 1)),
    "diagonal_scatter of a misfit": (lambda t, a, b: t.diagonal_scatter(a, b), A, torch.randn(2)),
    "select_scatter": (lambda t, a, b: t.select_scatter(a, b, 1, -1), A, V), "select_scatter outside": (lambda t, a, b: t.select_scatter(a, b, 1, 4), A, V),
    "select_scatter of columns": (lambda t, a, b: t.select_scatter(a.t(), b, 0, 2), A, V), "select_scatter of holes": (lambda t, a, b: t.select_scatter(a[:, ::2], b, 1, 1), A, V),
    "select_scatter of one for many": (lambda t, a, b: t.select_scatter(a.reshape(3, 1).expand(3, 4), b, 1, 1), V, V * 2),
    "slice_scatter": (lambda t, a, b: t.slice_scatter(a, b, 1, 1, 4, 2), A, torch.randn(3, 2)), "slice_scatter of all": (lambda t, a: t.slice_scatter(a, a * 2), A),
    "slice_scatter backwards": (lambda t, a, b: t.slice_scatter(a, b, 1, 1, 4, -1), A, torch.randn(3, 2)), "slice_scatter from behind": (lambda t, a, b: t.slice_scatter(a, b, 1, -2), A, torch.randn(3, 2)),
    "as_strided_scatter": (lambda t, a, b: t.as_strided_scatter(a, b, (2, 2), (1, 2), 1), A, torch.randn(2, 2)), "as_strided_scatter outside": (lambda t, a, b: t.as_strided_scatter(a, b, (2, 2), (1, 200)), A, torch.randn(2, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(call, *(x.clone().requires_grad_() for x in inputs), order=2)


def test_what_is_written_takes_the_dtype_of_what_it_is_written_into():
    assert_same(lambda t, a, b: t.select_scatter(a, b, 0, 1), torch.arange(6).reshape(2, 3), V * 10)


@pytest.mark.parametrize("shape, dim, size, step", [((20,), 0, 4, 2), ((20,), 0, 3, 5), ((3, 11), 1, 5, 1), ((7, 4, 3), 0, 7, 2), ((2, 9, 3), 1, 2, 3), ((2, 3, 6), -1, 1, 1), ((4, 5), 0, 0, 1)])
def test_gradients_of_overlapping_windows(shape, dim, size, step):
    x = torch.randn(shape, requires_grad=True)
    assert_same(lambda t, x: x.unfold(dim, size, step) * 2, x, strides=False)
    assert_same(lambda t, x: t.unfold_copy(x, dim, size, step), x, strides=False)


@pytest.mark.parametrize("size, stride, offset", [((3, 4), (4, 1), 0), ((4, 3), (1, 4), 2), ((2, 2), (1, 1), 1), ((5,), (0,), 3), ((3,), (5,), None), ((2, 3), (7, 2), 0), ((0, 3), (1, 1), 0)])
def test_gradients_of_strided_windows(size, stride, offset):
    x = torch.randn(20, requires_grad=True)
    assert_same(lambda t, x: t.as_strided(x * 1, size, stride, offset) * 3, x, strides=False)
    assert_same(lambda t, x: t.as_strided_copy(x, size, stride, offset), x, strides=False)


def test_the_gradient_of_a_half_that_a_window_repeats_is_rounded_once():
    assert_same(lambda t, x: t.as_strided(x, (2, 1000), (1, 0)), torch.ones(3, dtype=torch.bfloat16, requires_grad=True), rtol=0, atol=0, strides=False)
