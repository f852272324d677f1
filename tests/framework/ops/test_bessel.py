"""Bessel and Airy functions and zeta against PyTorch's. Kernel: framework/kernels/cpu/bessel.cpp."""

import pytest
import torch
from twins import assert_same

X = torch.tensor([0.0, 1e-30, 1e-9, 0.1, 0.5, 1.0, 1.9, 2.0, 2.1, 3.7, 5.0, 5.1, 8.0, 17.5, 60.0, 300.0, float("inf"), float("nan"), -0.3, -4.0, -50.0, float("-inf")],
                 dtype=torch.float64)


@pytest.mark.parametrize("name", ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1",
                                  "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_as_pytorch(name, dtype):
    digits = 1e-10 if "modified" in name and dtype == torch.float64 else 2e-6  # PyTorch has six digits of J and Y between 3 and 8
    assert_same(lambda t, x: getattr(t.special, name)(x), X.to(dtype).requires_grad_(), rtol=digits, atol=digits)
    assert_same(lambda t, x: getattr(t.special, name)(x), torch.arange(1, 5))


def test_zeta():
    s, q = torch.tensor([0.5, 1.0, 1.5, 2.0, 3.0, 40.0], dtype=torch.float64).reshape(-1, 1), torch.tensor([-2.5, -2.0, 0.0, 0.3, 1.0, 25.0, 1e5], dtype=torch.float64)
    assert_same(lambda t, s, q: t.special.zeta(s, q), s, q, rtol=1e-12)
    assert_same(lambda t, s, q: t.special.zeta(s, q), s[2:], q[3:].clone().requires_grad_(), rtol=1e-10)
    assert_same(lambda t, q: t.special.zeta(2, q), q)
    assert_same(lambda t, s: t.special.zeta(s, 1.5), s[:, 0].clone().requires_grad_())
