"""Planted faults that an excuse once swallowed, and the kinds that show in some circumstances only."""

import pickle

import numpy as np
import pytest
import torch

from weir_autotest.campaign.lane import Lane, _wavers
from weir_autotest.campaign.tasks import Settings
from weir_autotest.cases.case import Case, Encoder, Named
from weir_autotest.cases.target import Target
from weir_autotest.check.properties import Fault
from weir_autotest.generate.service import expect
from weir_autotest.generate.universe import overloads
from weir_autotest.workers.circumstances import FAULTS
from weir_autotest.workers.mutants import KINDS


@pytest.fixture(scope="module")
def lane():
    with Lane(Settings("torch")) as made:
        made.oracle.start()
        yield made


def item(path, *args, **facts):
    """What PyTorch makes of a call; `facts` are fields of the case, its keywords among them."""
    encoder = Encoder(torch)
    given, kwargs = encoder.encode(args), encoder.encode(facts.pop("kwargs", {}))
    return expect(Target(f"torch.{path}", [path]), Case(given, kwargs, encoder.storages, **facts))


def x(*size, dtype="float32", stride=None, grad=False):
    numbers = torch.from_numpy(np.random.default_rng(3).uniform(1.1, 2.9, size)).to(getattr(torch, dtype))
    return (numbers if stride is None else numbers.as_strided(size, stride)).requires_grad_(grad)


#: A fault, and a call in which an excuse once swallowed it.
SWALLOWED = {
    "a doubt about memory around an out= is none about its identity": ("stale_alias", lambda: item("abs", x(3), kwargs={"out": torch.zeros(7)[2:5]}, relation="out")),
    "autocast that changes nothing leaves all digits": ("truncated", lambda: item("prod", x(2, 3), relation="autocast")),
    "autocast to single precision leaves its digits": ("truncated", lambda: item("linalg.solve", x(2, 2, dtype="float16"), x(2, 2, dtype="float16") + torch.eye(2), relation="autocast")),
    "Python's float asks for double precision": ("half_sum", lambda: item("sum", x(3, 5, dtype="float16"), kwargs={"dim": (1,), "dtype": torch.float64})),
    "inputs of a wider result are exact": ("last_element", lambda: item("Tensor.type_as", x(3, dtype="float16"), x(1, dtype="float64"))),
    "a number beyond the dtype is no error of the oracle's": ("strided_only", lambda: item(
        "Tensor.type_as", torch.tensor([[1.5, 1e5], [2.5, 3.5]], dtype=torch.bfloat16).t(), x(1, dtype="float16"))),
    "a power above zero inverts no matrix": ("nan_hidden", lambda: item("linalg.matrix_power", torch.tensor([[0.0, 1.5], [float("nan"), 3.0]]), 2)),
    "PyTorch's own wrong place in an out= is no leave for another": ("out_as_whole", lambda: item(
        "narrow_copy", x(4, 6), 1, 1, 2, kwargs={"out": torch.zeros(2, 4).t()}, relation="out")),
    "labels have no neighbours": ("zeroed", lambda: item("cosine_embedding_loss", x(3), x(2, 3)[1], torch.tensor(1.0))),
    "a gradient cast to halves shows a thousandth of nothing": ("scaled_gradient", lambda: item(
        "Tensor.to", x(3, dtype="float16", grad=True), torch.float64, differentiate=1)),
}


@pytest.mark.parametrize("why", SWALLOWED)
def test_a_fault_that_was_swallowed_is_noticed(lane, why):
    kind, make = SWALLOWED[why]
    assert lane.killed(pickle.dumps([make()]), kind) == (1, 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("path, args", [("sum", [(2, 4097), [-1]]), ("mean", [(4097, 2)]), ("index_add", [(2, 3), 0, (4097,), (4097, 3)]), ("scatter_add", [(2,), 0, (4097,), (4097,)])])
def test_terms_that_a_sum_of_halves_loses_are_noticed(lane, path, args, dtype):
    ones = [torch.ones(given, dtype=getattr(torch, dtype)) if isinstance(given, tuple) else given for given in args]
    if len(ones) > 2:
        ones[2] = torch.zeros(4097, dtype=torch.int64)
    assert lane.killed(pickle.dumps([item(path, *ones)]), "lost_terms") == (1, 1)


def test_pythons_float_is_double_precision(lane):
    made = item("sum", x(3, 5, dtype="float16"))
    made = expect(made.target, Case(made.case.args, {"dim": (1,), "dtype": Named("type", "float")}, made.case.storages))
    assert lane.killed(pickle.dumps([made]), "half_sum") == (1, 1)


#: A call in which each fault of a circumstance shows.
SHOWN = {
    "strided_only": lambda: item("exp", x(3, 3, stride=(1, 3))), "empty_only": lambda: item("exp", x(0, 3)), "scalar_only": lambda: item("exp", x()),
    "lone_axis": lambda: item("exp", x(3, 1)), "autocast_ignored": lambda: item("mm", x(2, 2), x(2, 2), relation="autocast"),
    "muted": lambda: item("std", x(1)), "spoiled_input": lambda: item("exp", x(3)), "bumped": lambda: item("exp", x(3)),
    "spurious_history": lambda: item("exp", x(3)),
}


@pytest.mark.parametrize("kind", [fault.__name__ for fault in FAULTS])
def test_a_fault_of_a_circumstance_is_noticed_there_and_only_planted_there(lane, kind):
    assert KINDS[kind] and lane.killed(pickle.dumps([SHOWN[kind]()]), kind) == (1, 1)
    elsewhere = item("exp", x(2, 2)) if kind not in ("spoiled_input", "bumped", "spurious_history") else item("ones", (2,), kwargs={"dtype": torch.int64})
    assert lane.killed(pickle.dumps([elsewhere]), kind) == (0, 0)


def test_what_is_written_unknown_to_the_version_counter_is_compared():
    made = item("native_batch_norm", x(4, 2), None, None, x(2), x(2), True, 0.1, 1e-3)
    assert len(made.expected.spoiled) == 2 and len(made.expected.written) == 2


def test_a_gradient_that_reaches_no_input_is_no_planted_fault(lane):
    assert lane.killed(pickle.dumps([item("nn.functional.pad", x(3, grad=True), (1, 1), differentiate=1)]), "nan_gradient") == (0, 0)


def test_numbers_that_are_free_hold_no_planted_fault(lane):
    assert lane.killed(pickle.dumps([item("empty_like", x(3))]), "zeroed") == (0, 0)


def test_a_doubt_about_one_property_of_a_way_of_calling_is_none_about_another():
    wrong = Fault("out", "alias: alias: expected [('same', 1)], got [None]")
    assert not _wavers(wrong, [Fault("out", "value: written -2: expected float32[7], got None")])
    assert _wavers(wrong, [Fault("out", "alias: alias: expected [None], got [('same', 1)]")])


def test_other_names_of_element_wise_operations_are_such():
    pointwise = {overload.name: overload.pointwise for overload in overloads()}
    assert all(pointwise[name] for name in ("divide.Tensor", "floor_divide.Scalar", "arccos", "greater.Scalar", "special_psi"))
    assert not any(pointwise[name] for name in ("sum", "concat", "prelu", "allclose", "pinverse", "max.dim"))


@pytest.mark.parametrize("other, noticed", [(2.0, 1), (0.0, 0)])  # a zero beside the NaN may keep it away, as libraries skip it
def test_nan_in_a_matrix_may_not_turn_into_a_number(lane, other, noticed):
    poisoned = torch.tensor([[other, 1.5], [float("nan"), 3.0]])
    assert lane.killed(pickle.dumps([item("det", poisoned)]), "nan_hidden") == (noticed, 1)
