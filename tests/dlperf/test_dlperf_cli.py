"""The command: the control passes its gate, failures are results, exit codes tell them apart."""

import json
import os
import re
import subprocess
import sys

import pytest
from weir_dlperf import cli
from weir_reports.limits import TimeLimit
from weir_reports.records import validate


OPTIONS = ("run", "--preset", "tiny", "--precision", "fp32", "--threads", "1")


def weir_dlperf(*args):
    code = "from weir_dlperf.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, *OPTIONS, *args], capture_output=True, text=True, env=os.environ)


def test_control_passes_its_gate(tmp_path):
    done = weir_dlperf("--models", "bert", "--frameworks", "torch-eager,torch-control", "--blocks", "1", "--steps",
                       "2", "--warmup", "1", "--gate-steps", "3", "--json", str(tmp_path))
    assert done.returncode == 3, f"one block gives no interval: {done.stdout}{done.stderr}"
    records = [json.loads(f.read_text()) for f in tmp_path.glob("*.json") if f.name != "plan.json"]
    plan_id = json.loads((tmp_path / "plan.json").read_text())["plan_id"]
    assert len(records) == 2
    for record in records:
        validate(record)
        assert record["gate"]["verdict"] == "pass" and record["status"] == "ok" and record["plan_id"] == plan_id
        assert (tmp_path / f"{record['run_id'][:12]}.mllog").read_text().startswith(":::MLLOG {")


def test_usage_errors_exit_with_1():
    assert weir_dlperf("--models", "alexnet").returncode == 1
    assert weir_dlperf("--frameworks", "other").returncode == 1
    assert weir_dlperf("--batch-sizes", "4,many").returncode == 1
    assert weir_dlperf("--layout", "other").returncode == 1


def test_importing_the_tool_loads_nothing_that_takes_seconds():
    code = "import sys, weir_dlperf.cli; sys.exit(not sys.modules.keys().isdisjoint(('torch', 'weir', 'scipy.stats')))"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


def test_failed_runs_are_recorded_with_their_reason(monkeypatch):
    from weir_dlperf import frameworks, plan, runner

    monkeypatch.setitem(frameworks.FRAMEWORKS, "weir", frameworks.Framework("weir", "no_such_framework"))
    small = plan.Plan(models=("bert",), precisions=("fp32",), frameworks=("weir",), preset="tiny", blocks=1,
                      steps=1, warmup=0, gate_steps=1, threads=1)
    (record,) = runner.Runner(small).run()
    assert record["status"] == "fail" and "no_such_framework" in record["reason"]
    assert record["gate"]["verdict"] == "fail"


def test_blocks_that_would_not_end_in_the_limit_are_not_begun(in_process):
    from weir_dlperf.plan import Plan

    plan = Plan(models=("bert",), precisions=("fp32",), frameworks=("torch-eager",), preset="tiny", blocks=3, steps=1,
                warmup=0, gate_steps=1, threads=1)
    records = list(in_process(plan, limit=TimeLimit(-1)).run())
    assert [record["block"] for record in records] == [0], "one block there must be"
    assert records[0]["launch"]["planned"] == 3
    assert len(list(in_process(plan, limit=TimeLimit(600)).run())) == 3


def test_progress_is_a_line_per_run_where_there_is_no_terminal(in_process, monkeypatch, capsys):
    monkeypatch.setattr(cli, "Runner", in_process)
    monkeypatch.setattr(sys, "argv", ["weir-dlperf", *OPTIONS, "--models", "bert", "--frameworks", "weir", "--blocks", "1", "--steps", "1",
                                      "--warmup", "0", "--gate-steps", "1", "--batch-sizes", "2,4", "--layout", "dlperf"])
    with pytest.raises(SystemExit):
        cli.main()
    done = capsys.readouterr()
    lines = done.err.splitlines()
    assert sum("gate  bert fp32 batch 2" in line for line in lines) == 5, "the reference, its three reruns, and weir"
    (first, second) = [line for line in lines if "block 1/1" in line]
    assert re.match(r"0:\d\d:\d\d  1/2  block 1/1  bert fp32 batch \d  weir  [\d.e+]+ samples/s", first)
    assert "  2/2  " in second
    assert "samples/s at batch" in done.out and "| 1 | 1 | 2 |" in done.out and "| 4 | 8 | – | – | – |" in done.out


def test_dlperf_tables_take_the_median_and_name_what_was_not_run(in_process):
    from weir_dlperf.plan import Plan
    from weir_dlperf.table import dlperf_tables

    plan = Plan(models=("bert",), precisions=("fp32",), frameworks=("torch-eager",), preset="tiny", blocks=3, steps=1,
                warmup=0, gate_steps=1, threads=1)
    records = list(in_process(plan).run())
    for record, nanoseconds in zip(records, (1e9, 2e9, 4e9)):
        record["timing"]["step_ns"] = [int(nanoseconds)]
    eight = [{**r, "launch": {**r["launch"], "devices": 8}, "timing": {**r["timing"], "step_ns": [250_000_000]}} for r in records]
    table = dlperf_tables(records + eight)
    assert "| node_num | gpu_num_per_node | batch_size_per_device | samples/s(torch-eager, median of 3) | speedup |" in table
    assert [line for line in table if line.startswith("| 1 ")] == [
        "| 1 | 1 | 4 | 2.00 | 1.00 |", "| 1 | 8 | 4 | 16.00 | 8.00 |", "| 1 | 4 | – | – | – |"]
