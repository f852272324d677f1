"""The property `graph`: what differs from eager mode is found, and what no graph can do is told apart."""

from types import SimpleNamespace

import numpy as np
import pytest
import weir

from weir_autotest.campaign.score import UNANSWERED, Score
from weir_autotest.cases.case import Case, TensorSpec
from weir_autotest.cases.values import Value
from weir_autotest.check.properties import Fault
from weir_autotest.record import _totals_of
from weir_autotest.workers import graphs
from weir_autotest.workers.trial import Observation, Trial


def item(differentiate=1):
    numbers = np.arange(1, 7, dtype=np.float32)
    spec = TensorSpec(0, "float32", (2, 3), (3, 1), 0, 0, True)
    case = Case((spec,), {}, [("float32", numbers.tobytes())])
    case.differentiate = differentiate
    return SimpleNamespace(case=case, expected=Observation(), draws=False, random=False)


def asked(function, W=weir):
    it = item()
    return graphs.faults(W, it, function, Trial(W, function, it.case).run())


def test_equal_programs_have_no_fault():
    assert asked(lambda x: (x.exp() * 2).sum(1)) == []


def test_another_answer_is_a_fault():
    calls = []

    def wavers(x):
        calls.append(1)
        return x * len(calls)
    (fault,) = asked(wavers)
    assert fault == Fault("graph", "values 0: other bits than eager")


def test_another_gradient_is_a_fault():
    calls = []

    def wavers(x):
        calls.append(1)
        return x.detach() + (x * len(calls) - (x * len(calls)).detach())
    (fault,) = asked(wavers)
    assert "gradients" in fault.reason or "values" in fault.reason


@pytest.mark.parametrize("function", [lambda x: x.nonzero(), lambda x: x.sum().item(), lambda x: x[x > 2]])
def test_what_depends_on_values_stands_apart(function):
    assert [(f.property, f.absent) for f in asked(function)] == [("graph", True), (graphs.DYNAMIC, True)]


def test_a_refusal_by_name_is_no_wrong_answer():
    (fault,) = asked(lambda x: x * float(x.sum()))
    assert fault.property == "graph" and fault.absent and "Untraceable" in fault.reason


def test_an_error_without_a_name_is_a_fault():
    def breaks(x):
        if weir._C._is_tracing():
            raise KeyError("x")
        return x
    (fault,) = asked(breaks)
    assert not fault.absent and "KeyError" in fault.reason


def test_an_error_that_only_eager_mode_raises_is_a_fault():
    def breaks(x):
        if not weir._C._is_tracing():
            raise ValueError("no")
        return x
    (fault,) = asked(breaks)
    assert "eager mode raises" in fault.reason


def test_a_subject_without_graphs_lacks_the_property():
    import torch
    (fault,) = asked(lambda x: x + 1, torch)
    assert fault.absent


def test_what_lacks_a_way_of_calling_has_no_graph_of_it():
    """A subject without `out=` and without graphs once had graphs that equal eager mode."""
    score = Score("exp", "exp", "float32")
    score.asked.update(["out", "graph"])
    score.lacks("out", "no attribute 'exp'", ["out", "graph"])
    assert score.states()["graph"] == score.states()["out"] == "UNSUPPORTED" and score.absent[UNANSWERED["graph"]] == 1


def test_totals_count_what_stands_apart():
    scores = [{"asked": {"graph": 10}, "absent": {"graph": 4, graphs.DYNAMIC: 1, UNANSWERED["graph"]: 2, "unsupported": 5}, "failed": {"graph": 1}}, {"asked": {}}]
    assert _totals_of("graph", scores) == {"asked": 8, "dynamic": 1, "refused": 1, "wrong": 1}


def test_the_sign_of_a_nan_is_no_answer_but_that_of_zero_is():
    def value(*numbers):
        array = np.array(numbers, np.float32)
        return Value("float32", array.shape, array.tobytes())

    nan = float("nan")
    assert graphs._other("values", [value(nan, 1.0)], [value(-nan, 1.0)]) == ""
    assert graphs._other("values", [value(nan, 0.0)], [value(nan, -0.0)]) and graphs._other("values", [value(nan, 1.0)], [value(1.0, nan)])
