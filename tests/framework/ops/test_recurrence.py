"""Orthogonal polynomials by recurrence, against PyTorch's, and in graphs."""

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir
from weir import nn

NAMES = [*(f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"), "hermite_polynomial_h", "hermite_polynomial_he",
         "laguerre_polynomial_l", "legendre_polynomial_p"]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_torchs_and_graphs_are_eagers(name):
    class Program(nn.Graph):
        def build(self, x, n):
            return getattr(weir.special, name)(x, n)
    torch.manual_seed(0)
    x, n = torch.cat([torch.randn(40) * 2, torch.tensor([1.0, -1.0, 0.0])]), torch.arange(-1, 42).float()
    expected = getattr(torch.special, name)(x, n)
    got = getattr(weir.special, name)(to_weir(x), to_weir(n))
    assert_close(got, expected, rtol=1e-4, atol=1e-4)
    traced = Program()(to_weir(x), to_weir(n))
    assert traced.numpy().tobytes() == got.numpy().tobytes()


def test_what_is_no_degree_and_what_has_no_polynomials():
    x = torch.tensor([0.5, -1.0, 1.0, 2.0, -3.0])
    for name in NAMES:
        for n in (torch.tensor([2.7, -3, float("nan"), 1e30, 3]), torch.tensor([200.0, 600, 7, 3, 1])):
            assert_same(lambda t, x, n, f=name: getattr(t.special, f)(x, n), x, n, what=name)
        for call in (lambda t, x, f=name: getattr(t.special, f)(x, 5), lambda t, x, f=name: getattr(t.special, f)(2, x.long()),
                     lambda t, x, f=name: getattr(t.special, f)(x.half(), 5), lambda t, x, f=name: getattr(t.special, f)(2, 3),
                     lambda t, x, f=name: getattr(t.special, f)(x[:, None], x.double(), out=t.empty(0, dtype=t.float64))):
            assert_same(call, x, what=name)


@pytest.mark.parametrize("name", NAMES)
def test_a_degree_of_centuries_ends_at_once(name):  # PyTorch's laguerre and legendre do not end
    x = weir.tensor([0.5, 1.5])
    assert getattr(weir.special, name)(x, 2 ** 61).shape == x.shape


@pytest.mark.parametrize("name", NAMES)
def test_float64_is_rounded_as_torchs(name):  # beside a zero of a polynomial a step that rounds its product too shows
    torch.manual_seed(0)
    x, degrees = torch.cat([torch.rand(300, dtype=torch.float64) * 4 - 2, torch.tensor([0.7071067811865475, 0.5])]), torch.arange(12)
    for n in degrees.tolist():
        expected = getattr(torch.special, name)(x, n)
        for part, wanted in ((x, expected), (x[:3], expected[:3])):  # vectors, and what is left of one
            got = getattr(weir.special, name)(to_weir(part), n)
            assert got.numpy().tobytes() == wanted.numpy().tobytes(), n
