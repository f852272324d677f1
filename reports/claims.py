"""Claims: what the targets ask for, set against the figures that the records give."""

import json
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from . import campaign_figures, conformance_figures
from .dlperf_figures import CONTROL
from .intervals import Interval

TARGETS = Path(__file__).parent / "targets.json"


@dataclass(frozen=True)
class Metric:
    """A named figure with the records it is computed from. `unit` is "x" (a ratio) or "%" (a share, stored 0 to 1)."""

    id: str
    label: str
    figure: Interval
    unit: str
    page: str
    run_ids: list = field(default_factory=list)
    unknown: int = 0  # cases that belong to the figure and could not be told


@dataclass(frozen=True)
class Claim:
    """A target applied to a metric: state is `holds`, `fails`, `open` (the interval straddles) or `unmeasured`."""

    text: str
    target: str
    state: str
    metric: Metric | None = None


def metrics(conformances, campaigns, bench_groups, workloads, programs=()) -> list[Metric]:
    """Returns every figure that a target may speak about. Smoke presets get ids that no target matches."""
    found = []
    for c in conformances:
        for way, counts in (("fwd", c.fwd), ("bwd", c.bwd)):
            for id, value in ((f"conformance.{way}", conformance_figures.agreement(counts)),
                              (f"complete.{way}", conformance_figures.presence(counts))):
                if value is not None:
                    found.append(Metric(f"{id}.{c.record['dtype']}", f"{c.title}", Interval(value), "%", "conformance.html",
                                        [c.record["run_id"]]))
    for c in campaigns:
        for name, counts in c.counts.items():
            for id, value in ((f"generated.{name}", campaign_figures.agreement(counts)),
                              (f"complete.{name}", campaign_figures.presence(counts))):
                if value is not None and (name == "value" or id.startswith("generated")):
                    found.append(Metric(id, f"{name}: {c.title}", Interval(value), "%", "generated.html",
                                        [c.record["run_id"]]))
    for pair, groups in bench_groups.items():
        found += _bench_metrics(pair, groups)
    for workload in workloads:
        found += _dlperf_metrics(workload)
    for each in programs:
        found += _program_metrics(each)
    return found


def claims(found: list[Metric], targets: list[dict] | None = None) -> list[Claim]:
    """Returns one claim per target and matching metric, and one `unmeasured` claim per target without a metric."""
    result = []
    for target in json.loads(TARGETS.read_text()) if targets is None else targets:
        matching = [m for m in found if fnmatchcase(m.id, target["metric"])]
        result += [Claim(target["text"], _target_text(target, m.unit), _state(m, target), m) for m in matching]
        if not matching:
            result.append(Claim(target["text"], _target_text(target, target.get("unit", "x")), "unmeasured"))
    return result


def _state(metric: Metric, target: dict) -> str:
    """As `judge`; what holds of the cases that could be told is undecided while others could not."""
    state = judge(metric.figure, target)
    return "open" if state == "holds" and metric.unknown else state


def judge(figure: Interval, target: dict) -> str:
    """Returns whether the whole interval satisfies the target, none of it does, or it straddles the bound.

    A figure without bounds is judged by its value if it is a count of cells, and is `open` if it is a measurement.
    """
    low, high = figure.low, figure.high
    if low is None:
        if not target.get("exact"):
            return "open"
        low = high = figure.value
    if "contains" in target:
        return "holds" if low <= target["contains"] <= high else "fails"
    if "at_least" in target:
        return "holds" if low >= target["at_least"] else "fails" if high < target["at_least"] else "open"
    return "holds" if high <= target["at_most"] else "fails" if low > target["at_most"] else "open"


def _bench_metrics(pair, groups) -> list[Metric]:
    subject, peer = pair
    kind = "control" if subject == peer else "bench"
    found = []
    for group in groups:
        checked = [c for c in group.cases if c.state in ("OK", "WRONG", "MISSING", "ERROR")]
        ids = sorted({c.run_id for c in group.cases})
        if checked:
            right = Interval(sum(c.state == "OK" for c in checked) / len(checked))
            found.append(Metric(f"{kind}.right.{group.group}", f"{group.group}, {_cases(len(checked))}", right, "%",
                                f"bench.html#{group.group}", ids))
        if group.mean is not None:
            matched = sum(c.verdict not in ("inconclusive", "not measured") for c in group.cases)
            unknown = sum(c.verdict == "inconclusive" for c in group.cases)
            of = _cases(matched) + (f", {unknown} inconclusive" if unknown else "")
            found.append(Metric(f"{kind}.mean.{group.group}", f"{group.group}, {of}", group.mean, "x",
                                f"bench.html#{group.group}", ids, unknown))
            found.append(Metric(f"{kind}.worst.{group.group}", f"{group.group}: {group.worst.name}, of {of}",
                                group.worst.ratio, "x", f"bench.html#{group.group}", [group.worst.run_id], unknown))
    return found


def _dlperf_metrics(workload) -> list[Metric]:
    smoke = workload.case["preset"] != "full"
    found, peers = [], [row for row in workload.rows if row.label == workload.best_peer]
    for row in workload.rows:
        if row.is_peer:
            continue
        is_control = row.label == CONTROL
        kind = "smoke" if smoke else "control" if is_control else "dlperf"
        where = f"{row.label}: {workload.title}"
        ids = sorted(r["run_id"] for r in row.runs)
        passed = Interval(sum(r["gate"]["verdict"] == "pass" for r in row.runs) / len(row.runs))
        name = f"{workload.case['model']}.{workload.case['precision']}"
        found.append(Metric(f"{kind}.gate.{name}", where, passed, "%", "dlperf.html", ids))
        # The control repeats one mode, eager; the subject must stand against the best one.
        peer = "torch-eager" if is_control else workload.best_peer
        ratio = workload.ratios.get((row.label, peer))
        if ratio is not None and row.gate == "pass":
            found.append(Metric(f"{kind}.ratio.{name}", f"{where} (against {peer})", ratio, "x", "dlperf.html", ids))
        if row.rss_peak and peers and peers[0].rss_peak and not is_control:
            memory = Interval(row.rss_peak / peers[0].rss_peak)
            found.append(Metric(f"{kind}.memory.{name}", f"{where} (against {workload.best_peer})", memory, "x",
                                "dlperf.html", ids))
    return found


def _program_metrics(programs) -> list[Metric]:
    ids, page = [programs.record["run_id"]], "dlperf.html#programs"
    found = [Metric("programs.same", f"{len(programs.rows)} programs", Interval(programs.same / len(programs.rows)), "%", page, ids)] if programs.rows else []
    if programs.timed:
        slowest = programs.timed[0]
        found.append(Metric("programs.slowest", f"{slowest.name}, of {len(programs.timed)} that work for long enough", slowest.work, "x", page, ids))
    return found


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def _target_text(target: dict, unit: str) -> str:
    show = (lambda x: f"{x:.0%}") if unit == "%" else (lambda x: f"{x:g}×")
    if "contains" in target:
        return f"covers {show(target['contains'])}"
    return f"at least {show(target['at_least'])}" if "at_least" in target else f"at most {show(target['at_most'])}"
