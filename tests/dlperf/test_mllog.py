"""MLPerf's log lines: what MLPerf's own package reads and checks."""

import json
import re

import pytest
from weir_dlperf import mllog
from weir_dlperf.plan import Plan

RULES = "4.0.0"  # the newest that know both ResNet and BERT


@pytest.fixture(scope="module")
def records(in_process):
    plan = Plan(models=("resnet50", "bert"), precisions=("fp32",), frameworks=("torch-eager",), preset="tiny", blocks=1,
                steps=2, warmup=1, gate_steps=1, threads=1)
    return list(in_process(plan).run())


def test_lines_are_in_order_of_time_and_hold_the_standard_keys(records):
    for record in records:
        events = [json.loads(line.removeprefix(":::MLLOG ")) for line in mllog.lines(record)]
        times = [e["time_ms"] for e in events]
        assert times == sorted(times) and times[0] > 1.5e12
        assert all(list(e) == ["namespace", "time_ms", "event_type", "key", "value", "metadata"] for e in events)
        keys = [e["key"] for e in events]
        order = ["submission_benchmark", "init_start", "init_stop", "run_start", "block_start", "epoch_start",
                 "tracked_stats", "epoch_stop", "block_stop", "run_stop"]
        assert [keys.index(key) for key in order] == sorted(keys.index(key) for key in order)
        assert events[-1]["metadata"]["status"] == "aborted", "no target accuracy was reached"


def test_skipped_runs_have_no_log_and_failed_ones_no_end(records, tmp_path):
    mllog.write({**records[0], "status": "skipped"}, tmp_path / "a.mllog")
    assert not (tmp_path / "a.mllog").exists()
    failed = {**records[0], "status": "fail", "timing": {**records[0]["timing"], "unix_ms": {}, "step_ns": []}}
    assert not any("run_stop" in line for line in mllog.lines(failed))


def test_mlperfs_own_logger_writes_the_same_line(records):
    encode = pytest.importorskip("mlperf_logging.mllog.mllog")._encode_log
    line = mllog.lines(records[0])[0]
    event = json.loads(line.removeprefix(":::MLLOG "))
    assert line == encode(**event)


def test_compliance_checker_misses_the_accuracy_alone(records, tmp_path):
    pytest.importorskip("yaml")
    checker = pytest.importorskip("mlperf_logging.compliance_checker.mlp_compliance")
    for record in records:
        file = tmp_path / f"{record['case']['model']}.mllog"
        mllog.write(record, file)
        found = checker.make_checker("training", RULES, quiet=False, werror=False)
        assert not found.check_file(str(file), f"training_{RULES}/common.yaml")
        said = [*found.overwritable.values(), *found.not_overwritable, *found.warnings.values()]
        assert [re.sub(r"\s+", " ", text) for text in said] == ["Required AT_LEAST_ONE occurrence of 'eval_accuracy' but found 0"]
