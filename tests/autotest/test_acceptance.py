"""The runner charges every kind of fault to the right cell and goes on."""

import subprocess
import sys

import pytest
import torch

from weir_autotest.cases.protocol import OpKey
from weir_autotest.check.referee import Referee
from weir_autotest.opdb.run import Lane, Settings, UsageError, run
from weir_autotest.workers.oracle import Oracle


def states(cell):
    return [cell.states[phase] for phase in ("fwd", "bwd", "err")]


def test_a_right_op_passes(fake_cells):
    assert states(fake_cells["neg"]) == ["PASS", "PASS", "PASS"]


def test_wrong_values_fail_forward_only(fake_cells):
    assert states(fake_cells["exp"])[:2] == ["FAIL", "PASS"]
    assert "elements differ" in fake_cells["exp"].reason


@pytest.mark.parametrize("op, reason", [
    ("sin", "killed by SIGABRT"), ("cos", "no answer within 3 s"), ("tanh", "Memory"),
    ("log", "may not be imported beside the subject"), ("square", "dtype: expected float32, got float64"),
])
def test_faults_fail_with_their_reason(fake_cells, op, reason):
    assert fake_cells[op].states["fwd"] == "FAIL"
    assert reason in fake_cells[op].reason


def test_a_crash_in_backward_leaves_forward_passed(fake_cells):
    assert states(fake_cells["abs"])[:2] == ["PASS", "FAIL"]
    assert "exited with status 3" in fake_cells["abs"].reason


def test_accepting_bad_input_fails_the_error_cell_only(fake_cells):
    assert states(fake_cells["t"]) == ["PASS", "PASS", "FAIL"]
    assert "accepted, but torch raises" in fake_cells["t"].reason


@pytest.mark.parametrize("op, reason", [("sqrt", "no attribute 'sqrt'"), ("expand_as", "expand_as")])
def test_absent_ops_are_missing(fake_cells, op, reason):
    assert states(fake_cells[op])[:2] == ["MISSING", "MISSING"]
    assert reason in fake_cells[op].reason


def test_torch_agrees_with_itself():
    ops = ("add", "where", "as_strided", "nn.functional.dropout", "linalg.svd", "softmax", "T", "max_pool2d_with_indices_backward")
    result = run(Settings("torch", ops=ops, max_samples=8))
    assert [cell.name for cell in result.cells if not cell.all_pass] == []
    assert result.oracle_version == torch.__version__


def test_what_cannot_be_sent_is_not_a_pass():
    cell, = run(Settings("torch", ops=("to_sparse",))).cells
    assert cell.states["fwd"] == "UNMAPPABLE" and not cell.all_pass


def test_random_samples_are_known_by_the_generator():
    oracle = Oracle("float32")
    plan = oracle.prepare(next(key for key in oracle.keys() if key.name == "nn.functional.dropout"))
    training = {sample.random: sample.case.kwargs.get("training") for sample in plan.samples}
    assert training[False] is False and training[True] in (True, None)


def test_cancellation_is_judged_by_the_reference():
    oracle = Oracle("float32")
    key = next(key for key in oracle.keys() if key.name == "sum")
    plan = oracle.prepare(key)
    sample = next(s for s in plan.samples if s.forward.values[0].shape == () and s.case.args[0].size)
    t = sample.forward.values[0].array()
    referee = Referee(plan, sample, oracle.adjudicate)
    eps = 2.0**-23
    assert referee.accepts("forward", 0, t * (1 + 2 * eps), t, eps).all()
    assert not referee.accepts("forward", 0, t + 1, t, eps).any()


def test_a_subject_that_cannot_be_imported_is_a_usage_error():
    with pytest.raises(UsageError, match="cannot import no_such_framework"):
        run(Settings("no_such_framework"))


def test_an_unknown_op_is_a_usage_error():
    with pytest.raises(UsageError, match="no_such_op"):
        run(Settings("torch", ops=("no_such_op",)))


def test_a_lost_oracle_is_never_blamed_on_the_subject():
    lane = Lane(Settings("torch"))
    try:
        cell = lane.prepare(OpKey(10**6, "beyond", ""))
    finally:
        lane.stop()
    assert set(cell.states.values()) == {"ORACLE-ERROR"}


def test_the_driver_imports_no_framework():
    probe = "import sys, weir_autotest.cli; sys.exit('torch' in sys.modules or 'weir' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe]).returncode == 0
