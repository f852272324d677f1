"""Arguments given as no signature tells, and the warnings of a call."""

import numpy as np
import pytest
import torch

from weir_autotest.cases.case import Case, Decoder, TensorSpec, leaves
from weir_autotest.cases.database import decode, encode
from weir_autotest.cases.target import Target
from weir_autotest.check.properties import faults
from weir_autotest.generate import odd
from weir_autotest.generate.choices import Choices
from weir_autotest.generate.service import expect
from weir_autotest.generate.universe import overloads
from weir_autotest.workers.subject import warn_each_time

SPEC = TensorSpec(0, "float32", (2,), (1,), 0, 0, False)
STORAGES = [("float32", np.ones(2, "float32").tobytes())]


def given(number, seed):
    """What stands in the place of `number` in a call that is made odd."""
    case = odd.oddly(Case((SPEC, number), {}, list(STORAGES)), Choices(seed))
    return case.args[1], case


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(odd, "_SHARE", 1.0)


@pytest.mark.parametrize("number, kinds", [(3, {bool, np.int64, TensorSpec, float, int}), (0.5, {float, np.float64, np.float32, bool, int, TensorSpec}),
                                           (True, {int, np.bool_, TensorSpec, type(None)}), (1j, {np.complex128, complex}), ([1, 0], {tuple, TensorSpec, list})])
def test_numbers_are_given_in_all_ways(always, number, kinds):
    assert {type(given(number, seed)[0]) for seed in range(200)} == kinds


def test_texts_and_tensors_are_given_in_other_ways(always):
    indices = TensorSpec(1, "int64", (2,), (1,), 0, 1, False)
    case = Case((SPEC, indices, "sum"), {}, [*STORAGES, ("int64", np.array([1, 0]).tobytes())])
    texts, dtypes, numbers = set(), set(), set()
    for seed in range(300):
        made = odd.oddly(case, Choices(seed))
        assert made.args[0] is SPEC, "the first tensor says what the call is about"
        texts.add(made.args[2])
        dtypes.add((made.args[1].dtype, made.args[1].size))
        if made.args[1].size == ():
            held, data = made.storages[made.args[1].storage]
            numbers.add(np.frombuffer(data, held)[0].item())
        Decoder(torch, made.storages).decode(made.args)
    assert texts == {"sum", "SUM", "", "nothing", "Sum"}
    assert dtypes == {("int64", (2,)), ("int64", ()), ("float64", ()), *((narrow, (2,)) for narrow in ("int32", "int16", "int8", "uint8"))}
    assert {300, 2**40, -2**63, 1e39} < numbers


def test_no_choices_leave_a_call_as_it_is():
    case = Case((SPEC, 3), {"alpha": 0.5}, list(STORAGES))
    assert odd.oddly(case, Choices()) == case


def test_out_is_left_alone(always):
    case = Case((SPEC, 3), {"out": SPEC}, list(STORAGES))
    assert all(odd.oddly(case, Choices(seed)).kwargs["out"] is SPEC for seed in range(50))


def test_odd_calls_travel_and_are_built(always):
    for seed in range(200):
        _, case = given([2, 3] if seed % 3 == 0 else 2 if seed % 3 == 1 else 0.25, seed)
        again = decode(encode(case))
        assert str(again.args) == str(case.args) and list(map(type, leaves(again.args))) == list(map(type, leaves(case.args)))
        Decoder(torch, case.storages).decode(case.args)


def test_factories_are_asked_for_out():
    found = {overload.name: overload for overload in overloads()}
    assert all(found[name].out == 1 for name in ("linspace", "arange.start_step", "zeros", "full", "eye"))
    assert not found["expand"].out


def test_a_warning_that_is_missing_is_a_fault():
    warn_each_time(torch)
    try:
        complex_ones = TensorSpec(0, "complex64", (2,), (1,), 0, 0, False)
        item = expect(Target("torch.Tensor.float", ["Tensor.float"]), Case((complex_ones,), {}, [("complex64", np.ones(2, "complex64").tobytes())]))
    finally:
        torch.set_warn_always(False)
    assert item.expected.warned == ("UserWarning",)
    silent = expect(Target("torch.Tensor.float", ["Tensor.float"]), Case((SPEC,), {}, STORAGES)).expected
    assert not silent.warned
    silent = type(item.expected)(**{**vars(item.expected), "warned": ()})
    assert [fault.property for fault in faults(item.case, item.expected, silent)] == ["warning"]
