"""The gate: what is allowed, how a failure is explained, and small batches."""

import pytest
from weir_dlperf import gate
from weir_dlperf.models import resnet50
from weir_dlperf.worker import train


def traces(loss, norm=None):
    return {"loss": loss, "grad_norm": norm or [1.0] * len(loss)}


def judged(trace, reference, spread, precision="fp32"):
    return gate.judge(trace, reference, [spread], precision)


@pytest.mark.parametrize("value, verdict", [(1.00001, "pass"), (1.001, "fail"), (None, "fail")])
def test_gate_floor(value, verdict):
    assert judged(traces([value]), traces([1.0]), traces([1.0]))["verdict"] == verdict


def test_gate_allows_a_multiple_of_the_natural_spread():
    reference, spread = traces([1.0]), traces([1.01])
    assert judged(traces([1.03]), reference, spread)["verdict"] == "pass"
    assert judged(traces([1.05]), reference, spread)["verdict"] == "fail"


def test_a_failure_names_the_step_what_was_allowed_and_why():
    reference = traces([2.0] * 4, [1.0, 1.0, 1.0, 1.0])
    found = judged(traces([2.0] * 4, [1.0, 1.0, 1.1, 1.3]), reference, traces([2.0] * 4, [1.0, 1.01, 1.0, 1.0]))
    assert found["step"] == 2
    assert "step 2, gradient norm: 1.1, the reference has 1: 1.0e-01 apart, 4.0e-02 allowed" in found["reason"]
    assert "4 x 1.0e-02, by which the reference parts from itself" in found["reason"]
    assert "worst at step 3, gradient norm: 3.0e-01 apart" in found["reason"]
    floor = judged(traces([2.1]), traces([2.0]), traces([2.0]))
    assert "the floor: the reference parts from itself by less" in floor["reason"]
    assert judged(traces([2.0, None]), traces([2.0] * 2), traces([2.0] * 2))["reason"].startswith("step 1, loss: not finite")


def test_judging_ends_where_the_reference_parts_from_itself():
    reference, spread = traces([1.0] * 5), traces([1.0, 1.0, 1.0, 1.2, 1.0])
    found = judged(traces([1.0, 1.0, 9.0, 9.0, 9.0]), reference, spread)
    assert found["verdict"] == "pass" and found["judged"] == {"loss": 2, "grad_norm": 5}
    assert found["reason"] == "judged loss for 2 of 5 steps, then the reference parts from itself"
    assert judged(traces([1.0] * 5), reference, traces([1.0, 1.0, 1.2, 1.0, 1.0]))["verdict"] == "not-run"


def test_a_run_may_part_one_step_before_the_reference_does():
    reference, spread = traces([1.0] * 4), traces([1.0, 1.0, 1.0, 1.05])
    assert judged(traces([1.0, 1.0, 1.1, 1.1]), reference, spread)["verdict"] == "pass"
    assert judged(traces([1.0, 1.1, 1.0, 1.0]), reference, spread)["step"] == 1


def test_nothing_is_judged_where_the_reference_is_not_finite():
    assert judged(traces([1.0, 1.0]), traces([1.0, None]), traces([1.0, 1.0]))["verdict"] == "not-run"


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_right_framework_passes_at_batch_4(judge, precision):
    # The last batch norms of a tiny ResNet50 see four values each, and amplify rounding.
    found, _, _ = judge("resnet50", precision, {"module": "weir", "channels_last": True}, steps=20, batch_size=4)
    assert found["verdict"] == "pass", found["reason"]
    assert found["judged"]["loss"] > 2, "some steps must be judged for the verdict to mean something"


def test_a_wrong_optimizer_fails_at_batch_4(spec, monkeypatch):
    right = resnet50.settings
    reference = train(spec(steps=6))
    spreads = [train(spec(steps=6, nudge=(gate.ROUNDING["fp32"], seed))) for seed in range(2)]
    monkeypatch.setattr(resnet50, "settings", lambda config, size: {**right(config, size), "momentum": 0.9})
    found = gate.judge(train(spec(steps=6)), reference, spreads, "fp32")
    assert found["verdict"] == "fail" and found["step"] == 2, "momentum is first felt in the second update"
