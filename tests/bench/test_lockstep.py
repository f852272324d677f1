"""Whole sessions on tiny budgets: torch against itself, and against a flawed copy of itself."""

import io
import json
import os
import subprocess
import sys

import pytest
from rich.console import Console
from weir_bench.calib import CalibrationWorker, compile_kernels, kernels_for
from weir_bench.case import case, tensor
from weir_bench.cases import all_cases, select
from weir_bench.lockstep import Plan, Session, void_reason
from weir_bench.table import show
from weir_reports.console import GATE_FAILED, NOTHING_MEASURED
from weir_reports.limits import TimeLimit
from weir_reports.records import validate

TINY = Plan(launches=1, rounds=2, block_ms=0.05)


def side(wall, cpu):
    return {"iters": 1, "wall_ns": wall, "cpu_ns": cpu, "nivcsw": 0}


@pytest.mark.parametrize("cpu, threads, void", [(100, 1, False), (80, 1, True), (190, 1, True), (190, 2, False)])
def test_audit_voids_both_sides(cpu, threads, void):
    reason = void_reason({"subject": side(100, cpu), "peer": side(100, 100)}, threads)
    assert bool(reason) == void


def test_every_case_runs_on_the_control():
    """Each case of the list is accepted and agrees with itself; big ones would only slow the test, as would the import of PyTorch."""
    cases = [c for c in all_cases() if c["bytes"] < 10e6 and c["flops"] < 1e9]
    imports = [c for c in cases if c["group"] == "startup"]
    assert len(cases) > 75 and imports
    for module, some in (("torch", [c for c in cases if c not in imports]), ("weir", imports)):
        record = Session(module, module, some, Plan(launches=1, rounds=1, block_ms=0.01)).run()
        assert {e["state"] for e in record["cases"]} == {"OK"}, [e for e in record["cases"] if e["state"] != "OK"]
        validate(record)


def test_gradients_are_not_those_of_constants():
    """Against ones, softmax and normalisation have no gradient but rounding errors."""
    import torch
    from weir_bench.worker import FrameworkWorker

    out = torch.randn(4, 8, 3, 3).contiguous(memory_format=torch.channels_last)
    cotangent = FrameworkWorker("torch", 1)._cotangent(out)
    assert cotangent.stride() == out.stride()
    gradient = torch.softmax(out, 1) * (cotangent - (torch.softmax(out, 1) * cotangent).sum(1, keepdim=True))
    assert gradient.abs().max() > 0.1


def test_the_rounding_of_the_peer_is_no_flaw_of_the_subject():
    """Answers that differ are held against double precision: who lost digits is wrong, whichever side it is."""
    lossy = case("everyday", "log1p", "", [tensor(64, fill="between:0:0.001")])  # flawed_torch adds the 1 first
    states = {subject: Session(subject, peer, [lossy], TINY).run()["cases"][0]["state"]
              for subject, peer in (("torch", "flawed_torch"), ("flawed_torch", "torch"))}
    assert states == {"torch": "OK", "flawed_torch": "WRONG"}


def test_flaws_become_states_and_are_never_timed():
    cases = [c for c in select() if c["op"] in ("exp", "tanh", "amax", "var", "logsumexp")]
    record = Session("flawed_torch", "torch", cases, TINY).run()
    states = {e["case"]["op"]: (e["state"], len(e["samples"])) for e in record["cases"]}
    assert states == {"exp": ("WRONG", 0), "tanh": ("MISSING", 0), "amax": ("ERROR", 0), "var": ("ERROR", 0),
                      "logsumexp": ("OK", 2)}
    reasons = {e["case"]["op"]: e["reason"] for e in record["cases"]}
    assert "signal" in reasons["amax"] and "not today" in reasons["var"]
    untimed = {**record, "cases": [e for e in record["cases"] if e["state"] != "OK"]}
    assert show(untimed, Console(file=io.StringIO())) == NOTHING_MEASURED
    printed = io.StringIO()
    assert show(record, Console(file=printed, width=200)) == GATE_FAILED
    assert all(f"{state} " in printed.getvalue() for state in ("WRONG", "ERROR"))


def test_both_sides_lead_equally_often_and_calibration_is_in_every_round():
    (entry,) = Session("torch", "torch", select("matmul", "matmul 64"),
                       Plan(launches=1, rounds=4, block_ms=0.05)).run()["cases"]
    leads = [s["first"] for s in entry["samples"]]
    assert leads.count("subject") == leads.count("peer") == 2
    for sample in entry["samples"]:
        assert {name.partition("_")[0] for name in sample["calib"]} == {"copy", "flops"}


def test_steps_are_bounded_by_updates_in_place(tmp_path):
    """They write over what they read, which a copy does not: its bound would be one that they pass."""
    step = select("optimizer", "optim.SGD 100 small")[0]
    caches = {"L1": 32 << 10, "L2": 512 << 10, "L3": 32 << 20}
    assert kernels_for(step, caches) == ["update_L3"]
    for library in (compile_kernels(tmp_path), ""):
        worker = CalibrationWorker(library, 1)
        ran = {kind: worker.kernel(f"{kind}_L2", 1.0) for kind in ("copy", "update")}
        assert ran["update"]["work"] == 1.5 * ran["copy"]["work"] and ran["update"]["wall_ns"] > 0


def weir_bench(*args):
    code = "from weir_bench.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, env=os.environ)


def test_command_line(tmp_path):
    file = tmp_path / "run.json"
    ran = weir_bench("run", "--subject", "torch", "--case", "relu 64", "--launches", "1", "--rounds", "2",
                     "--block-ms", "0.2", "--json", str(file), "--store", str(tmp_path / "weir.db"))
    assert ran.returncode == 3, f"one launch proves nothing: {ran.stderr}"
    assert "overhead/relu 64" in ran.stdout
    validate(json.loads(file.read_text()))
    assert weir_bench("run", "--group", "nothing").returncode == 1
    absent = weir_bench("run", "--subject", "no_such_framework", "--case", "relu")
    assert absent.returncode == 1 and "no_such_framework" in absent.stderr


def test_export_and_list(tmp_path):
    exported = weir_bench("export", str(tmp_path / "cases.json"))
    cases = json.loads((tmp_path / "cases.json").read_text())["cases"]
    assert exported.returncode == 0 and len(cases) == len(all_cases()) and len(cases[0]["case_id"]) == 64
    assert weir_bench("list", "--group", "norm").stdout.count("\n") == 16


def test_importing_the_tool_loads_nothing_that_takes_seconds():
    code = "import sys, weir_bench.cli; sys.exit(not sys.modules.keys().isdisjoint(('torch', 'weir', 'scipy.stats')))"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


def test_what_was_measured_before_an_interrupt_is_kept():
    cases, seen = select("overhead", "add 64")[:1] + select("overhead", "matmul")[:1], []

    def progress(text):
        seen.append(text)
        if len(seen) == at:
            raise KeyboardInterrupt
    for at, launches in ((2, [1]), (4, [1, 2])):
        seen.clear()
        record = Session("torch", "torch", cases, Plan(launches=3, rounds=1, block_ms=0.05), progress).run()
        assert sorted(len(entry["samples"]) for entry in record["cases"]) == launches and {entry["state"] for entry in record["cases"]} == {"OK"}
    at = 1
    seen.clear()
    with pytest.raises(KeyboardInterrupt):
        Session("torch", "torch", cases, Plan(launches=3, rounds=1, block_ms=0.05), progress).run()


class Answers(TimeLimit):
    """Answers what it is asked in turn, and keeps for how many seconds it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def allows(self, seconds=0.0):
        self.asked.append(seconds)
        return self.answers.pop(0)


@pytest.mark.parametrize("answers, samples", [
    # The questions: before each launch; in the first of each case whether it may begin and what its rounds take, later of each case it timed.
    ((True, *[True] * 4, True, True, True, False), [2, 2]),
    ((True, *[True] * 4, True, True, True, True, True, False), [2, 3]),
    ((True, True, True, False, True, True, True, True), [3]),
    ((True, True, False, True, True, True, True, True, True), [3]),
    ((True, False, False, False, False), []),
], ids=["a launch", "a case of the last launch", "a case", "a long case", "everything"])
def test_a_limit_leaves_out(answers, samples):
    cases, limit = select("overhead", "add 64")[:1] + select("overhead", "matmul")[:1], Answers(*answers)
    record = Session("torch", "torch", cases, Plan(launches=3, rounds=1, block_ms=0.05), limit=limit).run()
    validate(record)
    assert sorted(len(entry["samples"]) for entry in record["cases"]) == samples and limit.answers == []
    assert len(record["plan"]["cases"]) == 2, "the record says what was asked for"
    assert limit.asked[0] == 0 < limit.asked[1], "a case may begin where two more launches end in time"
