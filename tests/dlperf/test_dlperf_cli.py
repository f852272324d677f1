"""The command: the control passes its gate, failures are results, exit codes tell them apart."""

import json
import os
import subprocess
import sys

from weir_reports.records import validate


def weir_dlperf(*args):
    code = "from weir_dlperf.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, "run", "--preset", "tiny", "--precision", "fp32", "--threads",
                           "1", *args], capture_output=True, text=True, env=os.environ)


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


def test_usage_errors_exit_with_1():
    assert weir_dlperf("--models", "alexnet").returncode == 1
    assert weir_dlperf("--frameworks", "other").returncode == 1


def test_importing_the_tool_loads_no_framework():
    code = "import sys, weir_dlperf.cli; sys.exit('torch' in sys.modules or 'weir' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=os.environ).returncode == 0


def test_failed_runs_are_recorded_with_their_reason(monkeypatch):
    from weir_dlperf import frameworks, plan, runner

    monkeypatch.setitem(frameworks.FRAMEWORKS, "weir", frameworks.Framework("weir", "no_such_framework"))
    small = plan.Plan(models=("bert",), precisions=("fp32",), frameworks=("weir",), preset="tiny", blocks=1,
                      steps=1, warmup=0, gate_steps=1, threads=1)
    (record,) = runner.Runner(small).run()
    assert record["status"] == "fail" and "no_such_framework" in record["reason"]
    assert record["gate"]["verdict"] == "fail"
