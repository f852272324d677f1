"""framework/ops/unary.cpp and framework/kernels/cpu/unary.cpp: what depends on the dtype's own limits, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

WILD = torch.tensor([float("inf"), -float("inf"), float("nan"), 1.0, -0.0] * 9)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_nan_to_num_gives_the_dtypes_own_limits(dtype):
    for given in ({}, {"nan": 2.0}, {"posinf": 3.0}, {"neginf": -5.0, "nan": 1.0}):
        for x in (WILD.to(dtype), WILD.to(dtype)[::2]):
            assert_same(lambda t, x: t.nan_to_num(x, **given), x, rtol=0, atol=0, what=f"{dtype} {given}")
            assert_same(lambda t, x: x.clone().nan_to_num_(**given), x, rtol=0, atol=0, what=f"{dtype} {given}")


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
