"""Generated plans of what users' own code does: PyTorch against itself, storage, targets."""

import pytest
import torch
from planned import cases, seen
from weir_autotest.cases import database, plans
from weir_autotest.cases.target import Target
from weir_autotest.check import properties
from weir_autotest.generate.expectation import expectation
from weir_autotest.workers.kinds import kind_of


@pytest.mark.parametrize("path", sorted(plans.FUNCTIONS))
def test_most_plans_are_valid_and_repeat(path):
    valid = 0
    for case in cases(path):
        first, second = seen(path, case), seen(path, case)
        assert not properties.faults(case, first, second, False, False)
        assert first.unmappable is None, "a result that cannot be compared"
        valid += first.raised is None
    assert valid >= 12


@pytest.mark.parametrize("path", sorted(plans.FUNCTIONS))
def test_numbers_of_plans_mean_something(path):
    target = Target(path, [path])
    assert not any(expectation(target, case).random for case in cases(path, count=20)), "a draw that was not put back hides all numbers"


def test_a_target_finds_the_functions_and_cases_are_stored():
    case = next(cases("recording.hooks"))
    assert Target("recording.hooks", ["recording.hooks"]).resolve(torch).func is plans.FUNCTIONS["recording.hooks"]
    again = database.decode(database.encode(case))
    assert again.kwargs == case.kwargs or str(again.kwargs) == str(case.kwargs)


def test_a_graph_is_asked_where_tensors_are_computed():
    asked = {path: kind_of(item).asked(item) for path in ("recording.hooks", "keeping.copies")
             for item in [expectation(Target(path, [path]), case) for case in cases(path)] if item.expected.raised is None}
    assert "graph" in asked["recording.hooks"] and "graph" not in asked["keeping.copies"]
