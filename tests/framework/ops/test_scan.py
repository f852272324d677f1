"""Running log-sum-exp, differences and integrals against PyTorch."""

import pytest
import torch
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
