"""Running log-sum-exp, differences and integrals against PyTorch."""

import math

import numpy as np
import pytest
import torch
import weir
from twins import assert_same

INF, NAN = float("inf"), float("nan")
X = torch.randn(3, 4, generator=torch.manual_seed(0), requires_grad=True)
CALLS = {
    "logcumsumexp": lambda t, x: t.logcumsumexp(x, 0), "logcumsumexp last": lambda t, x: x.logcumsumexp(-1),
    "diff": lambda t, x: t.diff(x, dim=0), "diff twice": lambda t, x: x.diff(n=2), "diff joined": lambda t, x: t.diff(x, prepend=x, append=x[:, :1]),
    "diff too far": lambda t, x: t.diff(x, 9), "diff 0": lambda t, x: t.diff(x, 0, prepend=x), "diff -1": lambda t, x: t.diff(x, -1),
    "trapezoid": lambda t, x: t.trapezoid(x), "trapz": lambda t, x: t.trapz(x, dim=0), "trapezoid dx": lambda t, x: t.trapezoid(x, dx=2, dim=0),
    "trapezoid x": lambda t, x: t.trapezoid(x, x), "trapezoid row": lambda t, x: t.trapezoid(x, x[0]), "misfit": lambda t, x: t.trapezoid(x, x[0, :2]),
    "cumulative": lambda t, x: t.cumulative_trapezoid(x, dim=0), "cumulative x": lambda t, x: t.cumulative_trapezoid(x, x[0]),
    "no step": lambda t, x: t.trapezoid(x, dx=None), "complex step": lambda t, x: t.trapezoid(x, dx=1j), "truth": lambda t, x: t.trapezoid(x > 0),
    "whole": lambda t, x: t.trapezoid((x.detach() * 4).int()), "truths": lambda t, x: t.diff(x > 0),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    for x in (X, X.detach()[:, :0], X.detach()[0, 0], X.detach().double().requires_grad_()):
        assert_same(CALLS[name], x, what=name)


def test_logcumsumexp_at_its_limits():
    for values in ([-INF, -INF, 1.0], [INF, 2.0, INF], [1.0, NAN, 2.0], [1000.0, -1000.0, 1000.0]):
        assert_same(lambda t, x: t.logcumsumexp(x, 0), torch.tensor(values))
    z = torch.randn(5, dtype=torch.complex64, generator=torch.manual_seed(0))
    assert_same(lambda t, x: t.logcumsumexp(x, 0), z)


def test_logcumsumexp_keeps_the_digits_of_what_almost_cancels():
    found = []
    for t in (torch, weir):
        x = t.tensor([0.5 + 0.25j, complex(0.5 + 1e-7, 0.25 + math.pi), 0.1j, 0.2], dtype=t.complex128, requires_grad=True)
        y = t.logcumsumexp(x, 0)
        found.append((y.tolist(), t.autograd.grad(y, x, t.ones_like(y))[0].tolist()))
    np.testing.assert_allclose(*found, rtol=1e-14)


def test_running_products_and_their_gradients_beside_zeros():
    g = torch.Generator().manual_seed(1)
    for shape, dim in (((5,), 0), ((3, 40), 1), ((40, 3), 0), ((2, 5, 19), 1), ((33, 1), 1)):
        for zeros in ((), (2,), (0, 3)):
            for dtype in (torch.float32, torch.float64, torch.complex64):
                x = torch.randn(shape, generator=g, dtype=dtype)
                for k in zeros:
                    x.view(-1)[k] = 0
                x.requires_grad_(dtype.is_floating_point)
                assert_same(lambda t, x, d=dim: t.cumprod(x, d), x, what=f"cumprod {shape} {zeros} {dtype}")
                assert_same(lambda t, x, d=dim: t.prod(x, d, keepdim=True), x, what=f"prod {shape} {zeros} {dtype}")
    assert_same(lambda t, x: t.prod(x), torch.tensor([[2.0, 0.0], [3.0, 4.0]], requires_grad=True))
    assert_same(lambda t, x: t.cumprod(x, 0), torch.randn(6, generator=g).half().requires_grad_(), order=1, rtol=1e-2)


def test_running_sums_of_long_lines_and_of_many():
    g = torch.Generator().manual_seed(2)
    for shape, dim in (((10_007,), 0), ((2, 70_001), 1), ((37, 65), 0), ((65, 37), 1), ((3, 20, 18), 1), ((3, 20, 18), -1)):
        for dtype in (torch.float32, torch.float64, torch.int64, torch.int8, torch.bool, torch.bfloat16, torch.complex64):
            x = (torch.randn(shape, generator=g) * 10).to(dtype)
            rtol = 1e-2 if dtype == torch.bfloat16 else 1e-5
            assert_same(lambda t, x, d=dim: t.cumsum(x, d), x, rtol=rtol, atol=1e-3, what=f"{shape} {dim} {dtype}")
    assert_same(lambda t, x: t.cumsum(x.t(), 0), torch.randn(40, 30, generator=g).requires_grad_())
    assert_same(lambda t, x: t.cumsum(x, 0), torch.tensor([1.0, INF, -INF, 2.0] * 2000))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128, torch.float16, torch.int64])
def test_the_step_of_an_integral_keeps_its_digits(dtype):
    assert_same(lambda t, x: [t.cumulative_trapezoid(x, dx=0.1), t.trapezoid(x, dx=0.1), t.cumulative_trapezoid(x, dx=3)], torch.tensor([1, 2, 4, 8]).to(dtype), rtol=1e-14)


@pytest.mark.parametrize("zeros", [(), (0,), (2,), (2, 5), (8,)])
@pytest.mark.parametrize("number", [torch.nan, INF])
def test_gradients_of_running_products_that_are_no_numbers(number, zeros):
    x = torch.arange(1.0, 10).view(3, 3)
    x.view(-1)[4] = number
    for k in zeros:
        x.view(-1)[k] = 0
    for dim in (0, 1):
        assert_same(lambda t, x, d=dim: t.cumprod(x, d), x.clone().requires_grad_(), order=1)


@pytest.mark.parametrize("shape, dim", [((7, 40), 0), ((3, 5, 33), 1), ((20, 6), 1)])
@pytest.mark.parametrize("lost", [0.0, 0.5, 1.0])
def test_gradients_of_running_products_some_of_which_are_beyond_all_numbers(shape, dim, lost):
    """Neighbours are walked side by side: those that overflow beside others, some of them with zeros."""
    g = torch.manual_seed(0)
    x = torch.randn(shape, generator=g).movedim(dim, -1).contiguous()
    lines = x.view(-1, shape[dim])
    over = torch.rand(len(lines), generator=g) < lost
    lines[over, 2:4] = 1e30
    lines[~over] *= torch.rand(lines[~over].shape, generator=g) > 0.1
    assert_same(lambda t, x: t.cumprod(x, dim), x.movedim(-1, dim).contiguous().requires_grad_(), order=1)
