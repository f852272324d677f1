"""Functions that take a number from a tensor without reading it: one trace serves other values, and they are PyTorch's."""

import pytest
import torch
import weir
from twins import assert_close, to_weir
from weir import nn


def traced(function, *examples):
    """The function as a graph, traced with the first example; its results for all of them, by one plan."""
    class Program(nn.Graph):
        def build(self, *args):
            return function(*args)

    program = Program()
    results = [program(*to_weir(list(e))) for e in examples]
    assert program.num_plans == 1
    return results


CALLS = {
    "linspace": lambda T, a, b: T.linspace(a, b, 7),
    "linspace, whole": lambda T, a, b: T.linspace(a, 9.7, 6, dtype=T.int64),
    "linspace, one": lambda T, a, b: T.linspace(a, b, 1),
    "linspace, none": lambda T, a, b: T.linspace(a, b, 0),
    "logspace": lambda T, a, b: T.logspace(a, b, 5, base=2.0),
    "logspace, half": lambda T, a, b: T.logspace(1, b, 5, dtype=T.float16),
}


@pytest.mark.parametrize("name", CALLS)
def test_ranges_between_tensors(name):
    call = CALLS[name]
    examples = [(torch.tensor(0.5), torch.tensor(4.0)), (torch.tensor(-3.25), torch.tensor(1.0)), (torch.tensor(2.0), torch.tensor(2.0))]
    for got, e in zip(traced(lambda *args: call(weir, *args), *examples), examples, strict=True):
        assert_close(got, call(torch, *e))
        assert weir.equal(got, call(weir, *to_weir(list(e))))


@pytest.mark.parametrize("size", [0, 1, 4, 30])
def test_nonzero_static(size):
    torch.manual_seed(0)
    examples = [((torch.rand(3, 4, 2) < share).float(),) for share in (0.3, 0.0, 1.0)]
    for got, (x,) in zip(traced(lambda x: weir.nonzero_static(x, size=size, fill_value=-5), *examples), examples, strict=True):
        assert_close(got, torch.nonzero_static(x, size=size, fill_value=-5))


def test_nonzero_static_refuses_a_negative_size():
    with pytest.raises(RuntimeError, match="non-negative integer"):
        weir.nonzero_static(weir.ones(3), size=-1)


def test_batch_norm_averages_over_all_batches():
    theirs, eager, own = torch.nn.BatchNorm1d(3, momentum=None), nn.BatchNorm1d(3, momentum=None), nn.BatchNorm1d(3, momentum=None)

    class Program(nn.Graph):
        def __init__(self):
            super().__init__()
            self.own = own

        def build(self, x):
            return self.own(x)

    program = Program()
    torch.manual_seed(0)
    for i in range(4):
        x = torch.randn(6, 3) * (i + 1) + i
        expected, y, z = theirs(x), eager(to_weir(x)), program(to_weir(x))
        assert_close(y.detach(), expected.detach())
        assert weir.equal(y, z)
        for name, value in theirs.named_buffers():
            assert_close(getattr(eager, name), value)
            assert weir.equal(getattr(eager, name), getattr(own, name))
    assert program.num_plans == 1
