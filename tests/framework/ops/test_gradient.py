"""Central differences against PyTorch: values, layouts, gradients, and refusals in its order."""

import pytest
import torch
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
