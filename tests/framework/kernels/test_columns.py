"""Axes that are not the last one, and matrices that are small: the ways of a kernel that the everyday shapes do not take."""

import pytest
import torch
from twins import assert_same


@pytest.mark.parametrize("shape, dim", [((5, 3), 0), ((5, 9), 0), ((3, 70, 130), 1), ((200, 64), 0), ((2, 3, 8), 0), ((2, 5, 1100), 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp", "cumsum"])
def test_reductions_of_columns(name, shape, dim):
    x = torch.randn(shape, requires_grad=True, dtype=torch.float32 if name.endswith("softmax") else torch.float64)
    assert_same(lambda f, x: getattr(f, name)(x, dim), x, order=2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape, dim", [((5, 9), 0), ((3, 70, 130), 1), ((200, 64), 0), ((1100, 10), 0), ((2, 3, 7), 1), ((0, 4, 3), 0), ((2, 0, 9), 1)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_columns_of_halves(name, shape, dim, dtype):
    x = torch.randn(shape, generator=torch.manual_seed(0)).mul(3).to(dtype).requires_grad_()
    assert_same(lambda f, x: getattr(f, name)(x, dim), x, order=1, rtol=2e-2, atol=2e-2)


def test_columns_of_infinities_have_no_softmax():
    x = torch.randn(6, 20)
    x[:, 3], x[2, 5], x[1, 7] = -float("inf"), float("inf"), float("nan")
    for name in ("softmax", "log_softmax"):
        assert_same(lambda f, x: getattr(f, name)(x, 0), x, order=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int8, torch.bool, torch.complex64])
def test_selecting_and_adding_along_the_last_axis(dtype):
    x, at = torch.randn(4, 37).mul(5).to(dtype), torch.tensor([0, 36, 3, 3, 12])
    assert_same(lambda f, x, i: f.index_select(x, 1, i), x, at, order=0)
    if dtype != torch.bool:
        assert_same(lambda f, x, i, s: f.index_add(x, 1, i, s, alpha=2), x, at, x[:, :5].clone(), order=0, rtol=1e-2)


def test_an_index_outside_is_named_before_anything_is_read():
    for bad in (-1, 37):
        assert_same(lambda f, x, i: f.index_select(x, 1, i), torch.randn(4, 37), torch.tensor([0, bad]), order=0)


@pytest.mark.parametrize("n, dtype", [(1, torch.float32), (2, torch.float32), (4, torch.float32), (3, torch.complex128), (16, torch.complex128),
                                      *((n, torch.float64) for n in (1, 2, 3, 7, 16, 17))])
def test_small_matrices(n, dtype):
    torch.manual_seed(n)
    a = (torch.randn(5, n, n, dtype=dtype) + 2 * torch.eye(n)).requires_grad_(not dtype.is_complex)
    b = torch.randn(5, n, 3, dtype=dtype)
    for call in (lambda f, a, b: f.linalg.inv(a), lambda f, a, b: f.linalg.det(a), lambda f, a, b: f.linalg.solve(a, b),
                 lambda f, a, b: f.linalg.lu_factor(a)[0], lambda f, a, b: f.linalg.slogdet(a)[1]):
        assert_same(call, a, b, order=1, rtol=2e-3, atol=1e-4)


def test_small_singular_matrices_are_refused_as_pytorch_refuses_them():
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0]])
    for call in (lambda f, a: f.linalg.inv(a), lambda f, a: f.linalg.solve(a, a), lambda f, a: f.linalg.det(a), lambda f, a: f.linalg.lu_factor(a)):
        assert_same(call, a, order=0)


@pytest.mark.parametrize("rows", [1, 3, 15])
def test_few_rows_times_a_wide_matrix_in_double(rows):
    a, w, b = torch.randn(rows, 70, dtype=torch.float64), torch.randn(300, 70, dtype=torch.float64), torch.randn(300, dtype=torch.float64)
    assert_same(lambda f, a, w, b: f.nn.functional.linear(a, w, b), a, w, b, order=0, rtol=1e-12)
    assert_same(lambda f, a, w, b: a @ w.t().contiguous(), a, w, b, order=0, rtol=1e-12)
