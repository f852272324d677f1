"""The first screen: one sentence each for correct, complete, fast and trains, and what changed since the last run."""

import math
from dataclasses import dataclass

from . import campaign_figures, dlperf_figures
from .bench_figures import CaseFigures, case_figures
from .dlperf_figures import CONTROL

NOTABLE = 0.05  # a change of speed worth telling
TOO_SLOW = 0.8  # a case below this is listed by name
UNASKED = {"weir.conformance/v1": "operations of the database, asked", "weir.campaign/v1": "generated calls, asked"}


@dataclass(frozen=True)
class Answer:
    """One answer: `question`, the `text` of it, whether that is good (`yes`), bad (`no`) or not known (`unknown`)."""

    question: str
    state: str
    text: str
    page: str


def answers(conformances, campaigns, bench, workloads) -> list[Answer]:
    """The four answers. A record of a control (PyTorch against itself) answers none of them."""
    campaigns = [c for c in campaigns if c.record["subject"]["name"] != c.record["oracle"]["name"]]
    conformances = [c for c in conformances if c.record["subject"]["name"] != c.record["oracle"]["name"]]
    return [_correct(campaigns, conformances), _complete(campaigns, conformances), _fast(bench), _trains(workloads)]


def _correct(campaigns, conformances) -> Answer:
    parts, wrong = [], 0
    for c in campaigns:
        failing = [row for row in c.rows if "FAIL" in row.states.values()]
        excused = sum(c.record["totals"].get("excused", {}).values())
        wrong += len(failing)
        parts.append(f"wrong {len(failing)} of {len(c.rows):,} operations · excused {excused:,} of {c.record['totals']['cases']:,} cases")
    for c in conformances:
        failing = sum(row.fwd == "FAIL" or row.bwd == "FAIL" for row in c.rows)
        wrong += failing
        parts.append(f"{failing} of {len(c.rows)} ops of PyTorch's op database differ ({c.record['dtype']})")
    return Answer("Correct?", "unknown" if not parts else "no" if wrong else "yes", "; ".join(parts) or "no conformance record",
                  "generated.html" if campaigns else "conformance.html")


def _complete(campaigns, conformances) -> Answer:
    parts, missing = [], 0
    for c in campaigns:
        absent = [row for row in c.rows if row.states.get("value") == "UNSUPPORTED"]
        missing += len(absent)
        parts.append(f"missing {len(absent)} of {len(c.rows):,} operations")
    for c in conformances:
        absent = sum(row.fwd == "MISSING" for row in c.rows)
        parts.append(f"{absent} of {len(c.rows)} ops of the op database")
        missing += absent
    return Answer("Complete?", "unknown" if not parts else "no" if missing else "yes", "; ".join(parts) or "no conformance record", "generated.html")


def _fast(bench) -> Answer:
    for (subject, peer), groups in bench.items():
        if subject == peer or peer != "torch":
            continue
        timed = [c for g in groups for c in g.cases if c.ratio is not None]
        cases = [c for c in timed if c.verdict != "inconclusive"]
        slow = slower_than(cases, TOO_SLOW)
        derived = [c for g in groups if g.group.startswith("opdb") for c in g.cases if c.ratio is not None]
        if timed and not cases:
            return Answer("Fast?", "unknown", f"{_mean(timed):.2f}× over {len(timed):,} cases, each timed too seldom to be sure of", "bench.html")
        if not cases:
            continue
        first = f"{_mean(derived):.2f}× over {len(derived):,} cases that nobody picked; " if derived else ""
        worst = f", worst {slow[0].name} {slow[0].ratio.value:.2f}×" if slow else ""
        return Answer("Fast?", "no" if slow else "yes", f"{first}slower than {TOO_SLOW:g}× of PyTorch: {len(slow)} of {len(cases):,} cases{worst}", "bench.html")
    return Answer("Fast?", "unknown", "no bench record", "bench.html")


def _mean(cases: list[CaseFigures]) -> float:
    return math.exp(sum(math.log(c.ratio.value) for c in cases) / len(cases))


def slower_than(cases: list[CaseFigures], bound: float) -> list[CaseFigures]:
    """Returns the cases whose whole interval is below `bound`, the slowest first."""
    return sorted((c for c in cases if c.ratio is not None and (c.ratio.high or c.ratio.value) < bound), key=lambda c: c.ratio.value)


def _trains(workloads) -> Answer:
    parts, bad = [], False
    for w in workloads:
        for row in w.rows:
            ratio = w.ratios.get((row.label, w.best_peer))
            if row.is_peer or row.label == CONTROL or w.case["preset"] != "full":
                continue
            bad |= row.gate == "fail" or bool(ratio and ratio.value < 1)
            told = f"{ratio.value:.2f}× of {w.best_peer}" if ratio else "no ratio"
            parts.append(f"{w.title}: {told}" + (", other numbers" if row.gate == "fail" else ""))
    return Answer("Trains?", "unknown" if not parts else "no" if bad else "yes", "; ".join(parts) or "no training record", "dlperf.html")


def changes(records: list[dict]) -> list[str]:
    """What the newest record of each kind says otherwise than the one before it, of the same subject; sentences, maybe none."""
    found = []
    for kind, tell in (("weir.campaign/v1", _campaign_change), ("weir.conformance/v1", _conformance_change)):
        series: dict[tuple, list] = {}
        for record in records:
            if record["schema"] == kind and not record["subject"]["name"].startswith(campaign_figures.REFERENCES):
                series.setdefault((record["subject"]["name"], record.get("dtype"), record.get("settings", {}).get("cases")), []).append(record)
        for same in series.values():
            if len(same) > 1:
                found += tell(same[-2], same[-1])
    return found + _speed_changes(records) + _training_changes(records)


def _speed_changes(records: list[dict]) -> list[str]:
    """Cases whose ratio to the peer moved, by the two newest sessions that measured them on one class of machine."""
    points: dict[tuple, list] = {}
    for record in records:
        if record["schema"] != "weir.bench/v1" or record["subject"]["name"] == record["peer"]["name"]:
            continue
        where = record.get("provenance", {}).get("machine", {}).get("class_key", ""), record["subject"]["name"], record["peer"]["name"]
        for entry in record["cases"]:
            figures = case_figures(entry, record["run_id"])
            if figures.ratio is not None and figures.ratio.low is not None and figures.verdict != "inconclusive":
                points.setdefault((entry["case_id"], *where), []).append(figures)
    moved: dict[str, dict] = {"slower": {}, "faster": {}}
    for before, after in (found[-2:] for found in points.values() if len(found) > 1):
        factor = after.ratio.value / before.ratio.value
        apart = after.ratio.low > before.ratio.high or after.ratio.high < before.ratio.low
        if apart and max(factor, 1 / factor) >= 1 + NOTABLE:
            moved["faster" if factor > 1 else "slower"][f"{after.name} {factor:.2f}×"] = abs(math.log(factor))
    return [f"speed: {len(names)} {'case' if len(names) == 1 else 'cases'} became {how}: {_few(sorted(names, key=names.get, reverse=True))}"
            for how, names in moved.items() if names]


def _training_changes(records: list[dict]) -> list[str]:
    """Workloads whose ratio to the best peer moved between the two newest plans that trained them."""
    plans: dict[str, list] = {}
    for record in records:
        if record["schema"] == "weir.dlperf/v1":
            plans.setdefault(record["plan_id"], []).append(record)
    ratios: dict[str, list] = {}
    for runs in plans.values():
        for w in dlperf_figures.workloads(runs):
            for row in w.rows:
                ratio = w.ratios.get((row.label, w.best_peer))
                if ratio is not None and not row.is_peer and row.label != CONTROL:
                    ratios.setdefault(f"{row.label}, {w.title}", []).append(ratio)
    found = []
    for name, (*_, before, after) in ((name, known) for name, known in ratios.items() if len(known) > 1):
        if None not in (before.low, after.low) and (after.low > before.high or after.high < before.low):
            found.append(f"training: {name} became {'faster' if after.value > before.value else 'slower'}: {before.value:.2f}× to {after.value:.2f}×")
    return found


def _campaign_change(before: dict, after: dict) -> list[str]:
    def failing(record):
        return {score["path"] for score in record["scores"] if "FAIL" in score["states"].values()}
    return _told(failing(before), failing(after), "generated calls")


def _conformance_change(before: dict, after: dict) -> list[str]:
    def failing(record):
        return {cell["op"] for cell in record["cells"] if "FAIL" in (cell["fwd"], cell["bwd"])}
    return _told(failing(before), failing(after), f"op database, {after['dtype']}")


def _told(before: set, after: set, what: str) -> list[str]:
    found = []
    if after - before:
        found.append(f"{what}: {_operations(after - before)} became wrong: {_few(sorted(after - before))}")
    if before - after:
        found.append(f"{what}: {_operations(before - after)} became right: {_few(sorted(before - after))}")
    return found


def _few(names: list) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _operations(names: set) -> str:
    return "1 operation" if len(names) == 1 else f"{len(names)} operations"


def unfinished(records: list[dict]) -> list[str]:
    """Says what was asked for and not run, in the newest record of each kind; older ones are history."""
    return [*_unasked(records), *_untimed(records), *_untrained(records)]


def _unasked(records: list[dict]) -> list[str]:
    newest = {(r["schema"], r["subject"]["name"], str(r.get("dtype"))): r for r in records if r["schema"] in UNASKED}
    return [f"{UNASKED[r['schema']]} of {r['subject']['name']}: {r['unfinished']} of {len(r.get('cells', r.get('scores'))) + r['unfinished']} rows were not run"
            for r in newest.values() if r.get("unfinished")]


def _untimed(records: list[dict]) -> list[str]:
    newest = {tuple(r["plan"]["cases"]): r for r in records if r["schema"] == "weir.bench/v1" and "cases" in r["plan"]}
    return [f"benchmarks: {len(r['cases'])} of {len(r['plan']['cases'])} cases were timed" for r in newest.values()
            if len(r["cases"]) < len(r["plan"]["cases"])]


def _untrained(records: list[dict]) -> list[str]:
    runs = [r for r in records if r["schema"] == "weir.dlperf/v1" and "planned" in r["launch"]]
    if not runs:
        return []
    plan, planned = runs[-1]["plan_id"], runs[-1]["launch"]["planned"]
    done = sum(r["plan_id"] == plan for r in runs)
    return [f"training: {done} of {planned} runs of the newest plan, {plan[:12]}"] if done < planned else []
