"""`torch._higher_order_ops`: control flow and scans."""
import pytest
import torch
import weir
from torch._higher_order_ops.scan import scan as torch_scan
from weir._higher_order_ops import associative_scan, scan, while_loop


@pytest.mark.parametrize("mode", ["pointwise", "generic"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13])
def test_associative_scan_is_the_recurrence(n, reverse, mode):
    def step(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    x, y = weir.rand(3, n, 2, requires_grad=True), weir.rand(3, n, 2)
    got = associative_scan(step, (x, y), 1, reverse=reverse, combine_mode=mode)
    order = list(reversed(range(n))) if reverse else list(range(n))
    carry = (x[:, order[0]], y[:, order[0]])
    for i in order:
        carry = carry if i == order[0] else step(carry, (x[:, i], y[:, i]))
        for g, c in zip(got, carry):
            weir.testing.assert_close(g[:, i], c)
    (got[0] + got[1]).sum().backward()
    assert x.grad is not None


def test_associative_scan_refuses():
    with pytest.raises(ValueError, match="Combine_mode"):
        associative_scan(lambda a, b: a, weir.ones(2), 0, combine_mode="x")
    with pytest.raises(ValueError, match="same scan dimension"):
        associative_scan(lambda a, b: a, (weir.ones(2), weir.ones(3)), 0)
    with pytest.raises(ValueError, match="at least 1"):
        associative_scan(lambda a, b: a, (), 0)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse):
    answers = [[v.tolist() for v in s(lambda c, x: (c + x, c * x), t.zeros(2), t.arange(6.0).reshape(3, 2), reverse=reverse)]
               for t, s in ((torch, torch_scan), (weir, scan))]
    assert answers[0] == answers[1]


def test_while_loop():
    i, x = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (weir.tensor(0), weir.ones(2)))
    assert (i.item(), x.tolist()) == (3, [8.0, 8.0])
    with pytest.raises(RuntimeError, match="same number of elements"):
        while_loop(lambda i: i < 3, lambda i: (i, i), (weir.tensor(0),))


def test_cond():
    assert weir.cond(weir.tensor(False), lambda x: x + 1, lambda x: x - 1, (weir.ones(1),)).item() == 0
    with pytest.raises(RuntimeError, match="pred"):
        weir.cond("yes", lambda: 1, lambda: 2)
