"""Derived numbers, against values worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import samples
from weir_reports import bench_figures, campaign_figures, conformance_figures, dlperf_figures
from weir_reports.bench_figures import case_figures, group_figures
from weir_reports.claims import claims, judge, metrics
from weir_reports.intervals import Interval, geometric_mean, of_mean, two_level


def test_generated_calls_count_by_property():
    figures = campaign_figures.campaign(samples.campaign())
    assert campaign_figures.share(figures.counts["stride"]) == 1 / 3
    flip = next(row for row in figures.rows if row.path == "flip")
    assert flip.states == {"value": "PASS", "stride": "FAIL", "error": "LENIENT"} and len(flip.failures) == 1


def test_conformance_shares_count_what_the_subject_can_be_held_to():
    figures = conformance_figures.conformance(samples.conformance())
    assert conformance_figures.share(figures.fwd) == 3 / 5  # ORACLE-ERROR does not count
    assert conformance_figures.share(figures.bwd) == 2 / 4  # nor do two N/A
    assert {row.op: row.bwd for row in figures.rows}["softmax"] == "FAIL"


def test_bench_case_figures():
    entry = samples.bench(ratio=2.0)["cases"][0]
    figures = bench_figures.case_figures(entry)
    assert figures.ratio.low < 2.0 < figures.ratio.high and figures.ratio.value == pytest.approx(2, rel=0.02)
    assert figures.verdict == "faster" and figures.bound == "memory"
    # The calibration copies 50 bytes per ns, so 768 bytes need 15.36 ns of the 1000 ns taken.
    assert figures.roofline == pytest.approx(0.01536, rel=0.02)


def test_bench_group_uses_matched_cases_only():
    groups = {g.group: g for g in bench_figures.group_figures(
        [bench_figures.case_figures(c) for c in samples.bench(ratio=2.0)["cases"]])}
    assert groups["overhead"].mean.value == pytest.approx(math.sqrt(2 * 3), rel=0.02)
    assert groups["overhead"].worst.case["op"] == "add"
    assert groups["norm"].mean is None


def test_voided_rounds_make_a_case_inconclusive():
    entry = samples.bench()["cases"][0]
    for sample in entry["samples"][:20]:
        sample["void"] = "cpu/wall 0.5"
    figures = bench_figures.case_figures(entry)
    assert figures.verdict == "inconclusive" and figures.voided == 20


def test_dlperf_ratio_pairs_blocks():
    (workload,) = dlperf_figures.workloads(samples.dlperf_runs())
    assert workload.best_peer == "torch-eager"
    assert workload.ratios["weir", "torch-eager"].value == pytest.approx(2.0)
    rows = {row.label: row for row in workload.rows}
    assert rows["weir"].throughput.value == pytest.approx(16 / 0.5 / 1.01, rel=1e-3)
    assert rows["weir"].rank == 1 and rows["torch-compile"].rank is None and rows["torch-compile"].status == "oom"


def test_failed_gate_is_not_ranked():
    runs = samples.dlperf_runs()[1:] + [samples.dlperf("weir", 500, 0, gate="fail")]
    (workload,) = dlperf_figures.workloads(runs)
    assert {row.label: row.rank for row in workload.rows} == {"weir": None, "torch-eager": 1, "torch-compile": None}


def test_of_mean_is_students_t_for_few_blocks():
    low, high = (of_mean([0.0, 0.1, 0.2]).low, of_mean([0.0, 0.1, 0.2]).high)
    assert (low, high) == pytest.approx((0.1 - 0.2484, 0.1 + 0.2484), abs=1e-4)  # t(0.975, 2) = 4.303
    assert of_mean([0.3]).low is None


def test_interval_without_launches_is_an_error():
    for function in (two_level, geometric_mean, of_mean):
        with pytest.raises(ValueError):
            function([])


def test_geometric_mean_shares_the_launches_of_its_cases():
    rng = np.random.default_rng(3)
    drift = rng.normal(0, 0.1, 10)
    case = [[d] * 4 for d in drift]
    alone, both = two_level(case), geometric_mean([case, case])
    # The same drift in both cases does not average out, so the joint interval is not narrower.
    assert both.high - both.low == pytest.approx(alone.high - alone.low, rel=0.25)


@pytest.mark.parametrize("figure, target, state", [
    (Interval(1.2, 1.1, 1.3), {"at_least": 1}, "holds"),
    (Interval(0.8, 0.7, 0.9), {"at_least": 1}, "fails"),
    (Interval(1.0, 0.9, 1.1), {"at_least": 1}, "open"),
    (Interval(1.5), {"at_least": 1}, "open"),
    (Interval(0.995), {"at_least": 0.99, "exact": True}, "holds"),
    (Interval(1.0, 0.98, 1.01), {"contains": 1}, "holds"),
    (Interval(0.9), {"at_most": 1, "exact": True}, "holds"),
])
def test_judge(figure, target, state):
    assert judge(figure, target) == state


def test_generated_calls_by_family_and_over_time():
    records = [samples.campaign("2026-01-01T00:00:00", "PASS"), samples.campaign("2026-01-02T00:00:00")]
    (figures,) = campaign_figures.latest(records)
    assert list(figures.families) == ["torch", "fft"]
    assert figures.families["torch"]["FAIL"] == 1 and figures.families["fft"]["UNSUPPORTED"] == 3
    assert [campaign_figures.share(point.counts) for point in figures.trend] == [4 / 9, 3 / 9]
    assert figures.trend[0].label == "2026-01-01 0000000"


def test_another_series_is_not_in_the_trend():
    other = samples.campaign("2026-01-01T00:00:00")
    other = {**other, "scores": [{**score, "dtype": "bfloat16"} for score in other["scores"]]}
    (figures,) = campaign_figures.latest([other, samples.campaign("2026-01-02T00:00:00")])
    assert len(figures.trend) == 1


def test_failures_of_one_property_share_a_page():
    figures = campaign_figures.campaign(samples.campaign())
    (failure,) = campaign_figures.failures(figures)
    assert failure["page"] == "failures/flip.float32.stride.html" and failure["script"].startswith("import torch")


def dlperf_of(label, times, batch=16, gate="pass"):
    """Runs of one framework, a block each, with the given milliseconds per step."""
    runs = []
    for block, ms in enumerate(times):
        run = samples.dlperf(label, ms / (1 + 0.01 * block), block, gate)
        run["case"]["batch_size"] = batch
        runs.append(run)
    return runs


def test_fastest_is_said_only_where_the_interval_clears_1():
    def fastest(*runs):
        (workload,) = dlperf_figures.workloads([run for of_one in runs for run in of_one])
        return workload.fastest

    eager, clear = dlperf_of("torch-eager", (1000, 1010, 990)), dlperf_of("weir", (500, 505, 495))
    assert fastest(eager, clear) == "weir"
    assert fastest(eager, dlperf_of("weir", (900, 1200, 600))) is None, "the interval of the ratio includes 1"
    assert fastest(eager, clear, dlperf_of("jax", (501, 503, 496))) is None, "as fast as another"
    assert fastest(eager, clear, dlperf_of("jax", (400, 400, 400), gate="fail")) == "weir", "what computes otherwise has no rank"
    assert fastest(eager[:1], clear[:1]) is None and fastest(clear) is None


def test_other_frameworks_are_peers_but_the_best_one_is_pytorchs():
    runs = [*dlperf_of("torch-eager", (1000,)), *dlperf_of("jax", (500,)), *dlperf_of("weir", (800,))]
    (workload,) = dlperf_figures.workloads(runs)
    assert {row.label: row.is_peer for row in workload.rows} == {"torch-eager": True, "jax": True, "weir": False}
    assert workload.best_peer == "torch-eager" and ("weir", "jax") in workload.ratios


def test_workloads_that_differ_in_batch_size_are_a_sweep():
    runs = dlperf_of("weir", (500,)) + dlperf_of("weir", (300,), batch=8)
    (sweep,) = dlperf_figures.sweeps(dlperf_figures.workloads(runs))
    assert [w.case["batch_size"] for w in sweep] == [8, 16] and sweep[0].name == "resnet50, fp32"
    assert dlperf_figures.sweeps(dlperf_figures.workloads(runs[:1])) == []


def test_a_claim_is_undecided_while_a_case_of_it_could_not_be_told():
    record = samples.bench()
    known, disturbed = (case_figures(record["cases"][0]) for _ in range(2))
    groups = {("weir", "torch"): group_figures([known, replace(disturbed, verdict="inconclusive")])}
    target = {"text": "fast", "metric": "bench.mean.*", "at_least": 1}
    assert claims(metrics([], [], {("weir", "torch"): group_figures([known])}, []), [target])[0].state == "holds"
    open_one, = claims(metrics([], [], groups, []), [target])
    assert open_one.state == "open" and "1 inconclusive" in open_one.metric.label


def test_a_case_above_its_roofline_shows_a_wrong_model():
    figures = case_figures(samples.bench()["cases"][0])
    assert not replace(figures, roofline=1.02).wrong_model and replace(figures, roofline=1.2).wrong_model
    filtered = replace(figures, case={**figures.case, "op": "nn.functional.conv2d", "inputs": [{"shape": [4, 64, 28, 28]}, {"shape": [64, 64, 3, 3]}]})
    assert not replace(filtered, roofline=1.7).wrong_model and replace(filtered, roofline=2.5).wrong_model
