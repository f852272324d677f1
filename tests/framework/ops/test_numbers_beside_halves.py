"""What numbers beside halves are to a kernel, against PyTorch: comparisons cast them first, sums round their factor."""

import operator

import pytest
import torch
import weir
from twins import to_numpy, to_weir

HALVES = ("float16", "bfloat16")
#: Halves, and numbers that are none, or lie beyond them.
PAIRS = [(0.1, 0.1), (float("inf"), 1e5), (65504.0, 65510.0), (1.0, 1.0001), (2048.0, 2049), (1.0, True), (float("nan"), 0.1), (0.5, 0.5)]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("half, number", PAIRS)
def test_a_comparison_casts_first(dtype, half, number):
    def answers(t):
        x = t.tensor([half] * 3, dtype=getattr(t, dtype))
        others = (number, t.tensor(number), t.tensor(number).double(), t.tensor([number]).to(t.int64 if isinstance(number, int) else x.dtype))
        names = ("eq", "ne", "lt", "le", "gt", "ge")
        signs = [getattr(operator, name)(a, b).tolist() for name in names for other in others for a, b in ((x, other), (x[0], other), (other, x))]
        return signs, [getattr(x * 1, f"{name}_")(number).tolist() for name in names], t.logical_and(x, t.tensor(1e-30)).tolist()
    assert answers(weir) == answers(torch)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_plan_compares_alike(dtype):
    x = weir.tensor([0.1, 0.2, 0.5], dtype=getattr(weir, dtype))
    assert weir.compile(lambda x: (x == 0.1) | (x >= 0.2))(x).tolist() == [True, True, True]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("alpha", [0.1, -1.7, 3, 1e-3])
def test_a_sum_rounds_its_factor_and_nothing_else_on_the_way(dtype, alpha):
    x, y = (torch.randn(4096, generator=torch.manual_seed(i)).to(getattr(torch, dtype)) for i in range(2))
    for name in ("add", "sub"):
        expected = getattr(x, name)(y, alpha=alpha)
        for got in (getattr(to_weir(x), name)(to_weir(y), alpha=alpha), weir.compile(lambda x, y: getattr(x * 1, name)(y, alpha=alpha) * 1)(to_weir(x), to_weir(y))):
            assert (to_numpy(got) == to_numpy(expected)).all()


def test_the_gradient_of_a_sum_keeps_the_factor():
    for t in (torch, weir):
        y = t.ones(64, dtype=t.float16, requires_grad=True)
        t.zeros(64, dtype=t.float16).add(y, alpha=0.1).backward(t.full((64,), 1000.0, dtype=t.float16))
        assert set(y.grad.tolist()) == {100.0}
