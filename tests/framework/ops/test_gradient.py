"""Central differences against PyTorch: values, layouts, gradients, and refusals in its order."""

import pytest
import torch
import weir
from twins import assert_same

X = torch.randn(4, 5, generator=torch.manual_seed(0), requires_grad=True)
AT = torch.tensor([0.0, 0.5, 2.0, 2.5])
CALLS = {
    "all axes": lambda t, x, p: t.gradient(x), "one axis": lambda t, x, p: t.gradient(x, dim=0), "second order": lambda t, x, p: t.gradient(x, edge_order=2),
    "step": lambda t, x, p: t.gradient(x, spacing=2, dim=(0, 1)), "steps": lambda t, x, p: t.gradient(x, spacing=[2.0, 0.5]),
    "points": lambda t, x, p: t.gradient(x, spacing=[p], dim=0), "points, second order": lambda t, x, p: t.gradient(x, spacing=(p,), dim=0, edge_order=2),
    "a tensor for a number": lambda t, x, p: t.gradient(x, spacing=p[1], dim=0), "no axes": lambda t, x, p: t.gradient(x, dim=()),
    "order before axes": lambda t, x, p: t.gradient(x, dim=[0, -9], edge_order=0), "axis twice": lambda t, x, p: t.gradient(x, dim=(0, -2)),
    "axis out of range": lambda t, x, p: t.gradient(x, dim=2), "too few steps": lambda t, x, p: t.gradient(x, spacing=[1.0]),
    "0-d points": lambda t, x, p: t.gradient(x, spacing=[p[0]], dim=0), "no points": lambda t, x, p: t.gradient(x, spacing=[p[:0]], dim=0),
    "wrong number of points": lambda t, x, p: t.gradient(x, spacing=[p], dim=1), "too short": lambda t, x, p: t.gradient(x[:2], dim=0, edge_order=2),
    "0-d": lambda t, x, p: t.gradient(x[0, 0]), "axis of 0-d": lambda t, x, p: t.gradient(x[0, 0], dim=0), "uint8": lambda t, x, p: t.gradient(x.byte()),
    "whole numbers": lambda t, x, p: t.gradient((x * 4).long()), "transposed": lambda t, x, p: t.gradient(x.t()), "as a method": lambda t, x, p: x.gradient(),
    "complex step": lambda t, x, p: t.gradient(x.detach(), spacing=1j),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    assert_same(CALLS[name], X, AT, what=name)


NOTHING = float("inf"), float("nan")


@pytest.mark.parametrize("values", [[0.0, 0.0, NOTHING[0], 2.0], [0.0, NOTHING[0], 2.0], [0.0, 0.0, NOTHING[1]], [0.0, 0.0], [0.0, 2.0, 3.0]])
def test_two_zeros_leave_nothing_of_the_gradient_of_a_product(values):
    assert_same(lambda t, x: t.prod(x), torch.tensor(values, dtype=torch.float64, requires_grad=True), order=1)


def test_equal_bounds_take_no_gradient_from_below():
    x, low, high = (torch.tensor(v, requires_grad=True) for v in ([1.0, 2, 3, 4], [2.0, 2, 3, 1], [2.0, 1, 3, 1]))
    assert_same(lambda t, x, low, high: t.clamp(x, low, high), x, low, high, order=1)


@pytest.mark.parametrize("eps", [None, 0.0, 0.1, -1.0])
def test_the_pole_of_a_logit_has_one_side(eps):
    x = torch.tensor([0.0, -0.0, 1.0, 0.5, -1.0, 2.0, *NOTHING], requires_grad=True)
    assert_same(lambda t, x: t.special.logit(x, eps), x, order=1)


def test_a_slope_beyond_the_dtype_meets_its_cotangent_first():
    assert_same(lambda t, x: t.special.ndtri(x) * 0.25, torch.tensor([1e-38, 1e-40, 0.3], requires_grad=True), order=1, rtol=1e-3)


def test_a_number_among_the_arguments_of_zeta_has_all_its_digits():
    assert_same(lambda t, q: t.special.zeta(0.1, q), torch.tensor([3.0, 1.0], dtype=torch.float64, requires_grad=True), order=1, rtol=1e-13, atol=0)


def test_an_infinite_part_makes_a_complex_number_infinitely_long_whatever_the_other():
    inf, nan = NOTHING
    x = torch.tensor([[complex(inf, nan), 1], [complex(nan, 1), complex(inf, nan)], [complex(nan, -inf), 2j]], dtype=torch.complex128)
    assert_same(lambda t, x: [t.linalg.vector_norm(x, dim=1), t.linalg.norm(x[0]), t.norm(x[2])], x)


def test_the_slope_of_arccosh_on_its_cut_has_one_sign():
    slopes = []
    for framework in (torch, weir):
        x = framework.tensor([complex(-2, -0.0), complex(-2, 0.0), complex(0.5, -0.0), 2.0], dtype=framework.complex128, requires_grad=True)
        slopes.append(torch.tensor(framework.autograd.grad(framework.acosh(x).real.sum(), x)[0].tolist()))
    torch.testing.assert_close(slopes[1], slopes[0])
