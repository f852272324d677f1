"""Reductions of segments against PyTorch."""

import pytest
import torch
from twins import assert_same

DATA = torch.tensor([[1.0, 5.0], [3.0, 3.0], [3.0, 0.0], [0.0, 2.0], [2.0, 2.0], [7.0, 1.0], [0.0, 0.0], [5.0, 4.0]])


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("initial", [None, 2])
def test_as_pytorch(reduce, initial):
    for dtype, rtol in ((torch.float32, 1e-4), (torch.float64, 1e-4), (torch.float16, 1e-2)):
        x = DATA.to(dtype).requires_grad_()
        for lengths in ([3, 2, 1, 2], [8], [0, 8, 0]):
            def by_length(t, x, n):
                return t.segment_reduce(x, reduce, lengths=n, initial=initial)

            assert_same(by_length, x, torch.tensor(lengths), order=1, rtol=rtol, what=f"{reduce} {lengths}")
        assert_same(lambda t, x, o: t.segment_reduce(x, reduce, offsets=o, initial=initial), x, torch.tensor([0, 3, 8]), order=1, rtol=rtol)
        rows = torch.tensor([[1, 1], [2, 0], [0, 2], [1, 1]]).repeat(2, 1)
        assert_same(lambda t, x, n: t.segment_reduce(x, reduce, lengths=n, axis=1, initial=initial), x, rows, order=1, rtol=rtol)


def test_refusals():
    n = torch.tensor([3, 5])
    calls = {
        "sums to less": lambda t, x, n: t.segment_reduce(x, "sum", lengths=n - 1), "negative": lambda t, x, n: t.segment_reduce(x, "sum", lengths=n * -1),
        "unknown": lambda t, x, n: t.segment_reduce(x, "median", lengths=n), "neither": lambda t, x, n: t.segment_reduce(x, "sum"),
        "whole numbers": lambda t, x, n: t.segment_reduce(x.int(), "sum", lengths=n), "axis": lambda t, x, n: t.segment_reduce(x, "sum", lengths=n, axis=1),
        "float lengths": lambda t, x, n: t.segment_reduce(x, "sum", lengths=n.float()), "far": lambda t, x, n: t.segment_reduce(x, "sum", lengths=n, axis=5),
    }
    for name, call in calls.items():
        assert_same(call, DATA, n, what=name)
