"""Checks of values as ops: eager calls raise at once, plans in their runs."""

import pytest
import weir
from weir import nn


@pytest.mark.parametrize("call, good, bad", [
    (lambda v: nn.functional.gaussian_nll_loss(weir.zeros(2), weir.zeros(2), v), [1.0, float("nan")], [1.0, -2.0]),
    (lambda i: weir.take(weir.arange(4.0), i.long()), [0.0, -4.0], [0.0, 4.0]),
    (lambda p: weir.multinomial(p, 1), [0.5, 0.5], [0.5, -0.5]),
    (lambda s: weir.normal(weir.zeros(2), s), [1.0, 2.0], [1.0, -1.0]),
    (lambda w: weir.istft(weir.ones(3, 4, dtype=weir.complex64), 4, 2, window=w, center=False), [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]),
    (lambda m: weir.masked.median(weir.arange(4).reshape(2, 2), 1, mask=m.reshape(2, 2) > 0), [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0])])
def test_ops_that_look_at_values_are_traced(call, good, bad):
    class Program(nn.Graph):
        def build(self, x):
            return call(x)
    program, good, bad = Program(), weir.tensor(good), weir.tensor(bad)
    weir.manual_seed(0)
    eager = call(good)
    weir.manual_seed(0)
    assert weir.equal(program(good).nan_to_num(), eager.nan_to_num())
    with pytest.raises(Exception) as eager_error:
        call(bad)
    with pytest.raises(eager_error.type):
        program(bad)
    program(good)
    assert program.num_plans == 1


def gradient_along(phase):
    def call(a):
        A = weir.complex(a, weir.zeros_like(a)).requires_grad_()
        _, V = weir.linalg.eigh(A)
        loss = (V * phase).imag.sum() if phase != 1 else V.abs().sum()
        return weir.autograd.grad(loss, A)[0]
    return call


def test_gradients_along_a_phase_are_refused_in_plans_too():
    a = weir.tensor([[2.0, 1.0], [1.0, 3.0]])

    class Program(nn.Graph):
        def __init__(self, call):
            super().__init__()
            self.call = call

        def build(self, x):
            return self.call(x)
    assert weir.equal(Program(gradient_along(1))(a), gradient_along(1)(a))
    for call in (gradient_along(1 + 2j), Program(gradient_along(1 + 2j))):
        with pytest.raises(RuntimeError, match="linalg_eigh_backward: the loss depends on the phases"):
            call(a)


def test_the_error_is_the_one_asked_for():
    check = weir._C.ops["hidden"]["check_not_negative"]
    for error, other in (("RuntimeError", ValueError), ("ValueError", ())):
        with pytest.raises(eval(error), match="^these has negative entries$") as raised:
            check(weir.tensor([0.0, -1.0]), "these", error)
        assert not isinstance(raised.value, other)
    assert check(weir.tensor([0.0, float("nan")]), "these", "ValueError").shape == (2,)
