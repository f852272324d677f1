"""The databases' samples: the runner charges every kind of fault to the right cell and goes on."""

import subprocess
import sys

import pytest
import torch

from weir_autotest.campaign.tasks import UsageError
from weir_autotest.cases.case import Made
from weir_autotest.cases.protocol import OpKey
from weir_autotest.generate import databases
from weir_autotest.opdb.run import Lane, Settings, run


def states(cell):
    return [cell.states[phase] for phase in ("fwd", "bwd", "err")]


def items_of(name, dtype="float32"):
    return databases.samples(next(key for key in databases.keys(dtype) if str(key) == name), dtype)[0]


def test_a_right_op_passes(fake_cells):
    assert states(fake_cells["neg"]) == ["PASS", "PASS", "PASS"]


def test_wrong_values_fail_forward_only(fake_cells):
    assert states(fake_cells["exp"])[:2] == ["FAIL", "PASS"]
    assert "elements differ" in fake_cells["exp"].reason


@pytest.mark.parametrize("op, reason", [
    ("sin", "killed by SIGABRT"), ("cos", "no answer within 3 s"), ("tanh", "Memory"),
    ("log", "may not be imported beside the subject"), ("square", "expected float32, got float64"),
])
def test_faults_fail_with_their_reason(fake_cells, op, reason):
    assert fake_cells[op].states["fwd"] == "FAIL"
    assert reason in fake_cells[op].reason


def test_a_crash_leaves_neither_direction_right(fake_cells):
    assert states(fake_cells["abs"])[:2] == ["FAIL", "FAIL"]
    assert "exited with status 3" in fake_cells["abs"].reason


def test_accepting_bad_input_fails_the_error_cell_only(fake_cells):
    assert states(fake_cells["t"]) == ["PASS", "PASS", "FAIL"]
    assert "accepted, but torch raises" in fake_cells["t"].reason


@pytest.mark.parametrize("op, reason", [("sqrt", "no attribute 'sqrt'"), ("expand_as", "expand_as"), ("trace", "not yet")])
def test_absent_ops_are_missing(fake_cells, op, reason):
    assert states(fake_cells[op])[:2] == ["MISSING", "MISSING"]
    assert reason in fake_cells[op].reason


def test_a_part_that_is_unsupported_is_counted_and_leaves_the_rest_its_state(fake_cells):
    assert fake_cells["reciprocal"].states["fwd"] == "PASS"
    assert "fwd: 1 of 3 samples unsupported: NotImplementedError: reciprocal: no scalars yet" in fake_cells["reciprocal"].reason


def test_torch_agrees_with_itself():
    ops = ("add", "where", "as_strided", "nn.functional.dropout", "linalg.svd", "softmax", "T", "max_pool2d_with_indices_backward",
           "nn.Linear", "nn.TransformerEncoder", "nn.LSTM", "optim.Adam", "optim.LBFGS")
    result = run(Settings("torch", ops=ops, max_samples=8))
    assert [cell.name for cell in result.cells if not cell.all_pass] == []
    assert result.oracle_version == torch.__version__


def test_float64_has_the_tolerance_of_generated_calls():
    """A gradient that two ways of summing leave apart by some epsilons is no fault, though nothing wider tells the true one."""
    result = run(Settings("torch", "float64", ("cdist", "nn.BatchNorm2d", "optim.SGD"), max_samples=4))
    assert [cell.name for cell in result.cells if not cell.all_pass] == []


def test_what_cannot_be_sent_is_not_a_pass():
    cell, = run(Settings("weir", ops=("to_sparse",))).cells
    assert cell.states["fwd"] == "UNMAPPABLE" and not cell.all_pass


def test_random_samples_are_known_by_the_generator():
    training = {item.random: item.case.kwargs.get("training") for item in items_of("nn.functional.dropout")}
    assert training[False] is False and training[True] in (True, None)


def test_a_module_that_is_an_argument_is_made_anew_from_its_own_arguments():
    item = items_of("nn.TransformerEncoder")[0]
    assert isinstance(item.case.args[0], Made) and item.case.args[0].path == "nn.TransformerEncoderLayer"
    assert item.expected.entries and item.case.state


def test_a_subject_that_cannot_be_imported_is_a_usage_error():
    with pytest.raises(UsageError, match="cannot import no_such_framework"):
        run(Settings("no_such_framework"))


def test_an_unknown_op_is_a_usage_error():
    with pytest.raises(UsageError, match="no_such_op"):
        run(Settings("weir", ops=("no_such_op",)))


def test_a_lost_oracle_is_never_by_layout_on_the_subject():
    with Lane(Settings("weir")) as lane:
        cell = lane.prepare(OpKey(10**6, "beyond", ""))
    assert set(cell.states.values()) == {"ORACLE-ERROR"}


def test_the_driver_imports_nothing_that_takes_seconds():
    probe = "import sys, weir_autotest.cli; sys.exit(not sys.modules.keys().isdisjoint(('torch', 'weir', 'scipy.stats')))"
    assert subprocess.run([sys.executable, "-c", probe]).returncode == 0
