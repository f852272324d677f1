"""Change points in series of ratios: found where the level moved, and nowhere else."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
import samples
from weir_reports.history import Point, change_points, series
from weir_reports.records import seal


def points(values, error=0.01, seed=0):
    rng = random.Random(seed)
    return [Point(v + rng.gauss(0, error), error, f"2026-01-{i + 1:02}", f"r{i}", "0" * 64) for i, v in enumerate(values)]


@given(st.integers(0, 10_000), st.integers(2, 20))
def test_noise_is_no_change(seed, count):
    assert change_points(points([0.0] * count, seed=seed)) == []


@pytest.mark.parametrize("factor", [0.8, 0.9, 1.1, 2.0])
def test_a_step_is_found_between_its_revisions(factor):
    (change,) = change_points(points([0.0] * 6 + [math.log(factor)] * 5))
    assert change.at == 6 and (change.before, change.after) == ("r5", "r6")
    assert change.factor == pytest.approx(factor, rel=0.03)


def test_two_steps_are_two_changes():
    assert [c.at for c in change_points(points([0.0] * 5 + [0.3] * 5 + [0.1] * 5))] == [5, 10]


def test_one_odd_session_is_none():
    assert change_points(points([0.0] * 6 + [0.5] + [0.0] * 6)) == []


def test_a_certain_change_of_two_percent_is_left_alone():
    assert change_points(points([0.0] * 20 + [0.02] * 20, error=0.001)) == []


def test_a_series_is_of_one_case_on_one_machine():
    first, second = samples.bench(), samples.bench(ratio=2.1)
    elsewhere = {**samples.bench(), "provenance": {**samples.PROVENANCE, "machine": {**samples.PROVENANCE["machine"], "class_key": "0" * 12}}}
    del elsewhere["run_id"]
    found = series([first, second, seal(elsewhere), samples.bench(subject="torch")])
    assert sorted((s.name, len(s.points)) for s in found) == [("overhead/add 64", 2), ("overhead/view 64", 2)]
