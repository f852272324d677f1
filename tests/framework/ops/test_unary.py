"""framework/ops/unary.cpp and framework/kernels/cpu/unary.cpp: what depends on the dtype's own limits, against PyTorch."""

import numpy as np
import pytest
import torch
import weir
from twins import assert_same, to_weir

INF, NAN = float("inf"), float("nan")

WILD = torch.tensor([float("inf"), -float("inf"), float("nan"), 1.0, -0.0] * 9)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_nan_to_num_gives_the_dtypes_own_limits(dtype):
    for given in ({}, {"nan": 2.0}, {"posinf": 3.0}, {"neginf": -5.0, "nan": 1.0}):
        for x in (WILD.to(dtype), WILD.to(dtype)[::2]):
            assert_same(lambda t, x: t.nan_to_num(x, **given), x, rtol=0, atol=0, what=f"{dtype} {given}")
            assert_same(lambda t, x: x.clone().nan_to_num_(**given), x, rtol=0, atol=0, what=f"{dtype} {given}")


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.float32, torch.complex64])
def test_nan_to_num_in_place_of_a_repeated_element_is_for_integers(dtype):
    def answer(t, x):
        y = x.expand(3)
        y.nan_to_num_(nan=2.0)
        return y, t.tensor(y._version)
    assert_same(answer, torch.ones(1, dtype=dtype))


def test_nan_to_num_in_a_graph_is_that_of_eager_mode():
    class Graph(weir.nn.Graph):
        def build(self, x):
            return weir.nan_to_num(x * 2) + 1
    x = weir.tensor(WILD.tolist(), dtype=weir.bfloat16)
    assert Graph()(x).tolist() == (weir.nan_to_num(x * 2) + 1).tolist()


def test_digamma_keeps_its_digits_beside_a_pole():
    """Beside zero it is -1 / x, but for Euler's constant."""
    x = -torch.logspace(-12, -3, 40, dtype=torch.float64)
    for near in (x, x - 1, x - 3):
        assert_same(lambda t, x: t.digamma(x), near, rtol=1e-14 if near is x else 1e-12, atol=0)


@pytest.mark.parametrize("t", [torch, weir])
def test_the_order_of_polygamma_wraps_around_in_its_gradient(t):
    y = t.polygamma(2**63 - 1, t.tensor([1.5], requires_grad=True))
    with pytest.raises(RuntimeError, match="negative n"):
        y.sum().backward()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("eps", [None, 1e-10, 1e-5, 1e-3, 0.0, -0.2, float("nan")])
def test_logit_has_bounds_of_its_own_dtype(eps, dtype):
    x = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-3, 1e-6, float("inf"), float("nan")], dtype=dtype)
    assert_same(lambda t, x: t.logit(x, eps), x, what=f"{dtype} {eps}")
    for create in (False, True) if eps == eps else ():  # which side of a NaN is inside depends on PyTorch's instruction set
        slopes = []
        for t in (weir, torch):
            at = t.tensor(x.double().tolist(), dtype=getattr(t, str(dtype).split(".")[1])).requires_grad_()
            slopes.append(t.autograd.grad(t.logit(at, eps).sum(), at, create_graph=create)[0].detach().double().numpy())
            slopes[-1][1] = abs(slopes[-1][1])  # at -0.0 the sign of PyTorch's infinity depends on its instruction set
        np.testing.assert_allclose(*slopes, 1e-2)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_rounding_to_more_places_than_there_are(dtype):
    for decimals in (-2**63, 2**63 - 1, -400, 400, -30, 30, 3, -2):
        assert_same(lambda t, x: t.round(x, decimals=decimals), torch.tensor([0.0, 1.5, -300.0], dtype=dtype), rtol=0, atol=0, what=f"{decimals}")


def test_the_second_derivative_of_sinc_far_out():
    slopes = []
    for t in (weir, torch):
        x = t.tensor([0.5, -3.0, 1e5, 1e10, -1e12], requires_grad=True)
        slope, = t.autograd.grad(t.sinc(x).sum(), x, create_graph=True)
        slopes.append(t.autograd.grad(slope.sum(), x)[0].numpy())
    np.testing.assert_allclose(*slopes, 1e-3, 1e-15)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("eps", [0.7, 1.0, 2.0])
def test_logit_prefers_the_low_bound_where_bounds_cross(dtype, eps):
    assert_same(lambda t, x: t.logit(x, eps), torch.tensor([0.2, 0.7, 0.9, float("nan")], dtype=dtype), rtol=torch.finfo(dtype).eps)


def test_erfinv_of_floats_keeps_its_digits():
    """Within 2.5 units in the last place of the double one's, and nine in ten the number next to it; signs of zeros and the ends are those of PyTorch."""
    x = torch.cat([torch.linspace(-1, 1, 100001), 1 - torch.logspace(-7.2, -1, 20001), torch.logspace(-40, -1, 20001)]).float()
    true = torch.erfinv(x.double())
    found = torch.from_numpy(weir.erfinv(to_weir(x)).numpy())
    spacing = torch.nextafter(true.abs().float(), torch.tensor(INF)).double() - true.abs().float().double()
    inner = true.isfinite()
    missed = ((found.double() - true)[inner] / spacing[inner]).abs()
    assert missed.max() < 2.5 and (missed < 0.501).double().mean() > (0.6 if weir._C.cpu_capability == "baseline" else 0.8)  # which fuses no product
    ends = torch.tensor([1.0, -1.0, 1.5, -2.0, 0.0, -0.0, NAN, INF])
    assert_same(lambda t, x: 1 / t.erfinv(x), ends)
