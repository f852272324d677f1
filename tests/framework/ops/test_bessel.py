"""Bessel and Airy functions, scaled error functions and zeta: against PyTorch's and against their true values. Kernel: framework/kernels/cpu/bessel.cpp."""

import mpmath
import numpy as np
import pytest
import torch
import weir
from twins import assert_same

INF = float("inf")
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


TRUE = {
    "airy_ai": mpmath.airyai, "bessel_j0": lambda x: mpmath.besselj(0, x), "bessel_j1": lambda x: mpmath.besselj(1, x),
    "bessel_y0": lambda x: mpmath.bessely(0, x), "bessel_y1": lambda x: mpmath.bessely(1, x),
    "modified_bessel_k0": lambda x: mpmath.besselk(0, x), "modified_bessel_k1": lambda x: mpmath.besselk(1, x),
    "scaled_modified_bessel_k0": lambda x: mpmath.exp(x) * mpmath.besselk(0, x),
    "scaled_modified_bessel_k1": lambda x: mpmath.exp(x) * mpmath.besselk(1, x),
    "i0": lambda x: mpmath.besseli(0, x), "i1": lambda x: mpmath.besseli(1, x),
    "i0e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(0, x), "i1e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x),
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x), "log_ndtr": lambda x: mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2) if x > 0 else mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2),
}


@pytest.mark.parametrize("name", TRUE)
def test_all_digits_are_right(name):
    positive = "bessel_y" in name or "bessel_k" in name
    x = np.concatenate([np.geomspace(1e-6, 60, 90), [] if positive else -np.geomspace(1e-6, 20, 60)])
    with mpmath.workdps(40):
        true = np.array([float(TRUE[name](mpmath.mpf(v))) for v in x])
    found = getattr(weir.special, name)(weir.from_numpy(x)).numpy()
    # A last bit of x moves the result by x f'(x) of these: waves by as much as their height, exponentials by a multiple of x.
    height = np.maximum(np.abs(true), 1 / np.sqrt(1 + np.abs(x))) if "_j" in name or "_y" in name or "airy" in name else np.abs(true)
    height = np.maximum(height, 1e-300)
    assert (np.abs(found - true) / height / (1 + x * x if name in ("erfcx", "log_ndtr") else 1 + np.abs(x))).max() < 2e-15
    single = x.astype(np.float32)
    with mpmath.workdps(30):
        true = np.array([float(TRUE[name](mpmath.mpf(float(v)))) for v in single])
    found = getattr(weir.special, name)(weir.from_numpy(single)).numpy()
    fits = np.abs(true) < np.finfo(np.float32).max
    last_bit = np.spacing(np.abs(true[fits]).astype(np.float32)).astype(np.float64)
    assert (np.abs(found - true)[fits] <= last_bit * (3 if name in ("i0", "i1") else 0.51)).all() and np.isinf(found[~fits]).all()


def test_the_logarithm_of_the_normal_distribution_keeps_its_digits_beside_zero():
    x = np.concatenate([np.linspace(-1.5, 0.5, 41), [1e-4, -1e-9]])
    true = np.array([float(mpmath.log(mpmath.ncdf(mpmath.mpf(v)))) for v in x])
    assert np.abs(weir.special.log_ndtr(weir.tensor(x)).numpy() / true - 1).max() < 4 * 2.0**-52


def test_the_derivatives_of_the_logarithm_of_the_normal_distribution_vanish_far_right():
    x = torch.tensor([-3.0, -0.1, 0.0, 0.5, 5.0, 40.0, 1e3, 1e200, INF, -INF], dtype=torch.float64, requires_grad=True)
    assert_same(lambda t, x: t.special.log_ndtr(x), x, order=2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ndtr_keeps_its_digits_in_the_lower_tail(dtype):
    """An epsilon of x moves it by x^2 of its own, which is all that is lost."""
    x = np.array([-12.5, -9.0, -7.58, -5.5, -3.0, -0.4, 0.0, 0.4, 3.0, 9.0], dtype)
    true = np.array([float(mpmath.ncdf(float(number))) for number in x])
    found = weir.special.ndtr(weir.tensor(x)).numpy()
    assert (np.abs(found - true) / true / (1 + x.astype(float) ** 2)).max() < 2 * np.finfo(dtype).eps
