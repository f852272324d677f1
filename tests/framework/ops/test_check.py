"""Checks of values as ops: eager calls raise at once, plans in their runs."""

import pytest
import weir
from weir import nn
from weir._checks import require


class Checked(nn.Graph):
    def build(self, x):
        require(x >= 0, ValueError, "x has a negative entry")
        return x + 1


def test_a_plan_checks_in_its_runs():
    graph, good, bad = Checked(), weir.tensor([0.0, 1.0]), weir.tensor([0.0, -1.0])
    assert weir.equal(graph(good), good + 1)
    with pytest.raises(ValueError, match="x has a negative entry"):
        graph(bad)
    assert weir.equal(graph(good), good + 1) and graph.num_plans == 1


@pytest.mark.parametrize("error", [RuntimeError, ValueError, IndexError])
def test_the_error_is_the_one_asked_for(error):
    with pytest.raises(error, match="^no$"):
        require(weir.tensor([True, False]), error, "no")
    require(weir.tensor([True]), error, "no")


@pytest.mark.parametrize("call, good, bad", [
    (lambda v: nn.functional.gaussian_nll_loss(weir.zeros(2), weir.zeros(2), v), [1.0, 2.0], [1.0, -2.0]),
    (lambda i: weir.take(weir.arange(4.0), i.long()), [0.0, -4.0], [0.0, 4.0]),
    (lambda p: weir.multinomial(p, 1), [0.5, 0.5], [0.5, -0.5]),
    (lambda s: weir.normal(weir.zeros(2), s), [1.0, 2.0], [1.0, -1.0])])
def test_ops_that_look_at_values_are_traced(call, good, bad):
    class Program(nn.Graph):
        def build(self, x):
            return call(x)
    program, good, bad = Program(), weir.tensor(good), weir.tensor(bad)
    weir.manual_seed(0)
    eager = call(good)
    weir.manual_seed(0)
    assert weir.equal(program(good), eager)
    with pytest.raises(Exception) as eager_error:
        call(bad)
    with pytest.raises(eager_error.type):
        program(bad)
