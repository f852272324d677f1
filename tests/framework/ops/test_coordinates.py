"""framework/ops/coordinates.cpp: places of elements as coordinates, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

X = torch.tensor([[0.0, 2.0, 0.0], [float("nan"), 0.0, 5.0]])


@pytest.mark.parametrize("x", [X, X.bool(), X[:0], X[0, 1], X.t(), torch.tensor([0, 3, 4])])
@pytest.mark.parametrize("size", [0, 1, 3, 9])
def test_nonzero_static(x, size):
    assert_same(lambda t, x: t.nonzero_static(x, size=size), x)
    assert_same(lambda t, x: x.nonzero_static(size=size, fill_value=7), x)
    assert_same(lambda t, x: t.argwhere(x), x)


@pytest.mark.parametrize("shape", [(2, 3), [4], 6, (), (3, 1, 2)])
def test_unravel_index(shape):
    for index in (torch.tensor([[0, 5], [3, 1]]), torch.tensor(4), torch.arange(6, dtype=torch.uint8).reshape(2, 3), torch.tensor([2], dtype=torch.uint8), torch.tensor([-1, -4]), torch.zeros(0, dtype=torch.int64)):
        assert_same(lambda t, i: t.unravel_index(i, shape), index)
        assert_same(lambda t, i: t.unravel_index(i.T if i.ndim == 2 else i, shape), index)


@pytest.mark.parametrize("call, error", [
    (lambda t: t.nonzero_static(t.ones(2), size=-1), RuntimeError), (lambda t: t.unravel_index(t.tensor([True]), (2, 2)), TypeError),
    (lambda t: t.unravel_index(t.tensor([1]), (2, -2)), ValueError), (lambda t: t.unravel_index(t.tensor([1]), (2, 3.0)), TypeError)])
def test_refusals(call, error):
    for t in (torch, weir):
        with pytest.raises(error):
            call(t)
