"""Generated plans of custom Functions, hooks and Parameters: PyTorch against itself, faults that must show, storage."""

import functools
import zlib

import pytest
import torch
from weir_autotest.cases import database, recording
from weir_autotest.cases.target import Target
from weir_autotest.check import properties
from weir_autotest.generate import recording as generating
from weir_autotest.generate.choices import Choices
from weir_autotest.workers.trial import Trial


def _cases(path, count=40, dtype="float32"):
    overload = next(o for o in generating.overloads() if o.path == path)
    for i in range(count):
        case = generating.make(overload, dtype, Choices(zlib.crc32(f"{path}/{i}".encode())), 0.6)
        case.differentiate = 1
        yield case


def _seen(path, case, framework=torch):
    return Trial(framework, functools.partial(recording.FUNCTIONS[path], framework), case).run()


@pytest.mark.parametrize("path", sorted(recording.FUNCTIONS))
def test_most_plans_are_valid_and_repeat(path):
    valid = 0
    for case in _cases(path):
        first, second = _seen(path, case), _seen(path, case)
        assert not properties.faults(case, first, second, False, False)
        valid += first.raised is None
    assert valid >= 12


def test_a_target_finds_the_functions_and_cases_are_stored():
    case = next(_cases("recording.hooks"))
    assert Target("recording.hooks", ["recording.hooks"]).resolve(torch).func is recording.hooks
    again = database.decode(database.encode(case))
    assert again.kwargs == case.kwargs or str(again.kwargs) == str(case.kwargs)


def test_a_hook_that_is_not_called_shows(monkeypatch):
    expected = [_seen("recording.hooks", case) for case in _cases("recording.hooks")]


    monkeypatch.setattr(recording, "_changed", lambda W, what, g: None)
    got = [_seen("recording.hooks", case) for case in _cases("recording.hooks")]
    cases = list(_cases("recording.hooks"))
    assert any(properties.faults(c, e, g, False, False) for c, e, g in zip(cases, expected, got))
