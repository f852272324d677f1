"""JAX and TensorFlow train what PyTorch trains; where they are not installed, their runs are skipped by name."""

import numpy as np
import pytest
from weir_dlperf import frameworks
from weir_dlperf.plan import Plan
from weir_dlperf.worker import train

MODELS = pytest.mark.parametrize("model", ["resnet50", "bert"])
OTHERS = pytest.mark.parametrize("module", ["jax", "tensorflow"])


@MODELS
@OTHERS
def test_another_framework_trains_the_same_model(judge, module, model):
    pytest.importorskip(module)
    found, trace, reference = judge(model, "fp32", {"module": module})
    assert found["verdict"] == "pass", found["reason"]
    assert np.allclose(trace["loss"][0], reference["loss"][0], rtol=1e-5)
    assert all(trace[name] == reference[name] for name in ("params", "weights_sha", "data_sha"))


@OTHERS
def test_another_framework_trains_in_bf16(judge, module):
    pytest.importorskip(module)
    found, trace, reference = judge("bert", "bf16", {"module": module})
    assert found["verdict"] == "pass", found["reason"]
    assert trace["loss"] != reference["loss"], "bf16 rounds otherwise than fp32 and in another order than PyTorch"


@OTHERS
def test_timed_steps_have_dropout(spec, module):
    pytest.importorskip(module)
    train(spec("bert", steps=1))  # makes the weights
    plain, dropped = (train(spec("bert", module=module, gate=gate, steps=1))["loss"] for gate in (True, False))
    assert plain != dropped


@OTHERS
def test_real_data_come_without_a_loader_of_pytorchs(spec, module):
    pytest.importorskip(module)
    ours, other = (train(spec("bert", module=m, data="real", steps=2)) for m in ("torch", module))
    assert np.allclose(ours["loss"], other["loss"], rtol=1e-4) and ours["data_sha"] == other["data_sha"]


def test_a_run_without_pytorchs_weights_says_what_is_missing(spec):
    pytest.importorskip("jax")
    with pytest.raises(FileNotFoundError, match="must come first"):
        train(spec("bert", module="jax"))


def test_a_competitor_that_is_not_installed_is_skipped_by_name(in_process, monkeypatch, capsys):
    from rich.console import Console
    from weir_dlperf.table import show

    monkeypatch.setitem(frameworks.FRAMEWORKS, "jax", frameworks.Framework("jax", "no_such_jax", optional=True))
    plan = Plan(models=("bert",), precisions=("fp32",), frameworks=("torch-eager", "jax"), preset="tiny", blocks=1,
                steps=1, warmup=0, gate_steps=1, threads=1)
    records = list(in_process(plan).run())
    (skipped,) = (r for r in records if r["framework"]["label"] == "jax")
    assert skipped["status"] == "skipped" and skipped["reason"] == "no_such_jax is not installed"
    assert skipped["gate"]["verdict"] == "not-run"
    assert show(records, Console(width=160)) == 0, "PyTorch was measured"
    assert "skipped: no_such_jax is not installed" in capsys.readouterr().out
