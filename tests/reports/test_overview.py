"""The first screen: four answers and what changed since the last run."""

import samples
from weir_reports import campaign_figures, conformance_figures, overview
from weir_reports.claims import metrics
from weir_reports.records import seal
from weir_reports.site import figures


def answers(records):
    return {a.question: a for a in figures(records)["answers"]}


def test_nothing_measured_is_unknown_and_no_good_answer():
    assert {a.state for a in answers([]).values()} == {"unknown"}


def test_wrong_and_missing_are_two_answers():
    found = answers([samples.campaign()])
    assert found["Correct?"].state == "no" and "wrong 1 of 3 operations" in found["Correct?"].text
    assert "missing 1 of 3 operations" in found["Complete?"].text
    assert answers([samples.campaign(stride="PASS")])["Correct?"].state == "yes"


def test_times_too_few_to_be_sure_of_are_told_as_such():
    fast = answers([samples.bench(launches=1)])["Fast?"]
    assert fast.state == "unknown" and "over 2 cases, each timed too seldom to be sure of" in fast.text


def test_a_control_answers_nothing():
    record = {**samples.campaign(), "subject": {"name": "torch", "version": "2.13.0"}}
    del record["run_id"]
    assert answers([seal(record)])["Correct?"].state == "unknown"


def test_slow_cases_are_counted_and_the_worst_is_named():
    found = answers([samples.bench(ratio=0.5)])["Fast?"]
    assert found.state == "no" and "2 of 2 cases, worst add 64 0.5" in found.text
    assert answers([samples.bench(ratio=2.0)])["Fast?"].state == "yes"


def test_cases_that_nobody_picked_are_told_together():
    record = samples.bench(ratio=2.0)
    for entry, group in zip(record["cases"], ("opdb", "opdb-layouts", "norm", "norm")):
        entry["case"]["group"], entry["case_id"] = group, samples.digest({**entry["case"], "group": group})
    record["plan"]["cases"] = [entry["case_id"] for entry in record["cases"]]
    del record["run_id"]
    assert "× over 2 cases that nobody picked" in answers([seal(record)])["Fast?"].text


def test_what_became_wrong_and_right_since_the_last_run_is_told():
    before, after = samples.campaign(), samples.campaign("2026-01-02T10:30:00.000+00:00", stride="PASS")
    assert overview.changes([before, after]) == ["generated calls: 1 operation became right: flip"]
    assert overview.changes([after, before]) == ["generated calls: 1 operation became wrong: flip"]
    assert overview.changes([before]) == []


def test_a_plan_that_was_cut_short_is_named(tmp_path):
    runs = samples.dlperf_runs()
    for run in runs:
        run["launch"]["planned"] = 12
    assert overview.unfinished(runs) == [f"training: 7 of 12 runs of the newest plan, {'a' * 12}"]
    assert overview.unfinished(samples.dlperf_runs()) == [] == overview.unfinished([])


def test_what_there_was_no_time_for_is_named():
    campaign, bench = samples.campaign(), samples.bench()
    short = [seal({**{key: value for key, value in campaign.items() if key != "run_id"}, "unfinished": 9}),
             seal({**{key: value for key, value in bench.items() if key != "run_id"}, "cases": bench["cases"][:1]})]
    rows, cases = len(campaign["scores"]), len(bench["cases"])
    assert overview.unfinished(short) == [f"generated calls, asked of weir: 9 of {rows + 9} rows were not run", f"benchmarks: 1 of {cases} cases were timed"]
    assert overview.unfinished([*short, campaign, bench]) == []


def test_what_is_missing_does_not_count_as_wrong():
    found = {m.id: m.figure.value for m in metrics([conformance_figures.conformance(samples.conformance())],
                                                   [campaign_figures.campaign(samples.campaign())], {}, [])}
    assert found["conformance.fwd.float32"] == 1 and found["complete.fwd.float32"] == 3 / 5
    assert found["generated.value"] == 1 and found["complete.value"] == 1 - 1 / 3


def test_speed_that_changed_since_the_last_session_is_told():
    before, after = samples.bench(), samples.bench(ratio=1.0, started="2026-01-02T11:00:00.000+00:00")
    found, = overview.changes([before, after])
    assert found.startswith("speed: 2 cases became slower: ") and "add 64 0.5" in found
    assert overview.changes([before, samples.bench(started="2026-01-02T11:00:00.000+00:00")]) == []


def test_training_that_changed_since_the_last_plan_is_told():
    found, = overview.changes(samples.dlperf_runs() + samples.dlperf_runs(weir_ms=700, plan="c"))
    assert found.startswith("training: weir, ") and "became slower" in found
