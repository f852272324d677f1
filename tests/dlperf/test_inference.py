"""One answer of whole models: every engine gives PyTorch's, in turns, and is timed for nothing else."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from weir_dlperf import inference


@pytest.fixture
def launch(tmp_path):
    def make(model="resnet50", **changes):
        return {"model": model, "preset": "tiny", "batch_size": 2, "seed": 1, "order": 1, "threads": 1, "blocks": 2, "block_ms": 0,
                "engines": ["weir-graph", "weir", "torch"], "folder": str(tmp_path), **changes}
    return make


@pytest.mark.parametrize("model", ["resnet50", "bert"])
def test_engines_agree_and_take_turns(model, launch, monkeypatch):
    monkeypatch.setattr(inference, "PAUSE_S", 0)
    found = inference.measure(launch(model))
    assert list(found) == ["weir-graph", "weir", "torch"]
    assert all(engine["reason"] is None and len(engine["ns"]) == 2 and min(engine["ns"]) > 0 for engine in found.values())


def test_a_wrong_answer_is_not_timed(launch, monkeypatch):
    def off(launch):
        answer = inference.ENGINES["torch"].make(launch)
        return lambda: answer() * 1.01
    monkeypatch.setitem(inference.ENGINES, "off", inference.Engine("off", off))
    monkeypatch.setitem(inference.ENGINES, "short", inference.Engine("short", lambda launch: lambda: np.zeros(3)))
    found = inference.measure(launch(engines=["off", "short"]))
    assert found["off"]["ns"] == [] and "differs from PyTorch's" in found["off"]["reason"]
    assert found["short"]["ns"] == [] and "answers (3,)" in found["short"]["reason"]


def test_an_engine_without_its_package_is_skipped_by_name(launch, monkeypatch):
    monkeypatch.setitem(inference.ENGINES, "other", inference.Engine("other", None, needs=("numpy", "no_such_package")))
    assert inference.measure(launch(engines=["other"]))["other"] == {"ns": [], "reason": "no_such_package is not installed"}


def test_the_command(tmp_path):
    code = "from weir_dlperf.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "infer", "--preset", "tiny", "--models", "bert", "--batch-sizes", "1", "--engines", "weir-graph,torch",
                           "--threads", "1", "--launches", "2", "--blocks", "1", "--block-ms", "0", "--json", str(tmp_path / "found" / "a.json")],
                          capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "bert fp32 batch 1, 1 threads, tiny preset" in done.stdout and "/ weir-graph" in done.stdout
    (workload,) = json.loads((tmp_path / "found" / "a.json").read_text())
    assert [list(run) for run in workload["launches"]] == [["weir-graph", "torch"]] * 2
    bad = subprocess.run([sys.executable, "-c", code, "infer", "--engines", "other"], capture_output=True, text=True, env=os.environ)
    assert bad.returncode == 1 and "unknown engine" in bad.stderr
