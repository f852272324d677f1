"""Orthogonal polynomials by recurrence, against PyTorch's, and in graphs."""

import pytest
import torch
import weir
from twins import assert_close, to_weir
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


def test_unknown_kinds_are_refused():
    x = weir.ones(2)
    with pytest.raises(ValueError, match="unknown kind"):
        weir._C.ops["hidden"]["recurrence"](x, x, x, "bessel")
