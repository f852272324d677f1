"""What follows from `weir.dlperf/v1` records: throughput, ratios to other frameworks, memory, gate states."""

import math
from dataclasses import dataclass, replace
from statistics import median

from .intervals import Interval, of_mean

SUBJECT = "weir"
CONTROL = "torch-control"  # the same PyTorch mode under a second label: its ratio must cover 1


@dataclass(frozen=True)
class FrameworkRow:
    """One framework's runs of one workload. Throughput is samples per second over all timed steps of the ok runs;
    `median` is DLPerf's figure, the median of the runs. Memory is the largest peak of resident bytes; `rank` is None unless
    every run passed the gate."""

    label: str
    runs: list
    throughput: Interval | None
    median: float | None
    gflops: float | None
    rss_peak: int | None
    gate: str
    status: str
    rank: int | None = None

    @property
    def is_subject(self) -> bool:
        """Whether this is a framework under test."""
        return self.label.startswith(SUBJECT)

    @property
    def is_peer(self) -> bool:
        """Whether this is a framework that the one under test is compared with (the control is not)."""
        return not self.is_subject and self.label != CONTROL

    @property
    def is_torch(self) -> bool:
        """Whether this is one of PyTorch's own modes."""
        return self.is_peer and self.label.startswith("torch")

    @property
    def reason(self) -> str | None:
        """Returns why a run did not end well."""
        return next((run["reason"] for run in self.runs if run["status"] != "ok"), None)

    @property
    def gate_reason(self) -> str | None:
        """Returns what the gate said; nothing where the reason stands for the run already."""
        said = next((r for run in self.runs if (r := run["gate"].get("reason"))), None)
        return None if said == self.reason else said


@dataclass(frozen=True)
class Workload:
    """All runs of one plan with the same model, precision, batch, data and threads."""

    key: tuple
    case: dict
    threads: int
    plan_id: str
    rows: list
    ratios: dict  # (subject label, peer label) -> Interval of throughput subject / peer
    best_peer: str | None  # PyTorch's fastest mode
    fastest: str | None  # ranked first, and faster than every other ranked one with certainty

    @property
    def name(self) -> str:
        """Returns the title without the batch size: what a sweep over batch sizes has in common."""
        return self.title.replace(f", batch {self.case['batch_size']}", "")

    @property
    def title(self) -> str:
        """Returns e.g. `resnet50, fp32, batch 16`, with a smaller preset named so that nobody takes it for full."""
        preset = "" if self.case["preset"] == "full" else f" ({self.case['preset']} preset)"
        real = "" if self.case["data"]["mode"] == "synthetic" else ", real data"
        return f"{self.case['model']}{preset}, {self.case['precision']}, batch {self.case['batch_size']}{real}"


def workloads(records: list[dict]) -> list[Workload]:
    """Returns the workloads of `records` (oldest first), each from the latest plan that ran it."""
    plans: dict[tuple, dict[str, list]] = {}
    for record in records:
        plans.setdefault(workload_key(record), {}).setdefault(record["plan_id"], []).append(record)
    latest = {key: list(by_plan.values())[-1] for key, by_plan in plans.items()}
    return [_workload(key, latest[key]) for key in sorted(latest)]


def workload_key(record: dict) -> tuple:
    """Returns what makes two runs comparable: model, preset, precision, batch, data, threads and machine class."""
    case = record["case"]
    return (case["model"], case["preset"], case["precision"], case["batch_size"], case["data"]["mode"],
            record["launch"]["threads"], record["provenance"]["machine"]["class_key"])


def run_throughput(record: dict) -> float | None:
    """Returns samples per second of one ok run: samples of the timed steps over their summed time."""
    steps = record["timing"]["step_ns"]
    if record["status"] != "ok" or not steps:
        return None
    return record["case"]["batch_size"] * len(steps) * 1e9 / sum(steps)


def _workload(key: tuple, runs: list[dict]) -> Workload:
    labels = sorted({run["framework"]["label"] for run in runs})
    rows = [_row(label, [r for r in runs if r["framework"]["label"] == label]) for label in labels]
    rows = _ranked(rows)
    peers = [row for row in rows if row.is_peer and row.throughput]
    best = max((row for row in peers if row.is_torch), key=lambda row: row.throughput.value, default=None)
    ratios = {(a.label, b.label): ratio for a in rows for b in peers
              if a.label != b.label and (ratio := _ratio(a.runs, b.runs)) is not None}
    return Workload(key, runs[0]["case"], runs[0]["launch"]["threads"], runs[0]["plan_id"], rows, ratios,
                    best and best.label, _fastest(rows))


def sweeps(found: list[Workload]) -> list[list[Workload]]:
    """Returns the workloads that differ in the batch size alone, by size, where there are at least two."""
    groups: dict[tuple, list[Workload]] = {}
    for workload in found:
        groups.setdefault((*workload.key[:3], *workload.key[4:]), []).append(workload)
    return [sorted(group, key=lambda w: w.case["batch_size"]) for group in groups.values() if len(group) > 1]


def _fastest(rows: list[FrameworkRow]) -> str | None:
    """Returns the label ranked first if its paired ratio to every other ranked one has an interval above 1."""
    ranked = sorted((row for row in rows if row.rank), key=lambda row: row.rank)
    if len(ranked) < 2:
        return None
    ratios = [_ratio(ranked[0].runs, row.runs) for row in ranked[1:]]
    return ranked[0].label if all(r is not None and r.low is not None and r.low > 1 for r in ratios) else None


def _row(label: str, runs: list[dict]) -> FrameworkRow:
    rates = [rate for run in runs if (rate := run_throughput(run)) is not None]
    throughput = of_mean([math.log(rate) for rate in rates]).exp() if rates else None
    flop = runs[0]["case"]["train_flop_per_sample"]
    peaks = [run["resources"]["rss_peak"] for run in runs if run["resources"]["rss_peak"] is not None]
    gates = {run["gate"]["verdict"] for run in runs}
    gate = next(state for state in ("fail", "not-run", "pass") if state in gates)
    failed = [run["status"] for run in runs if run["status"] != "ok"]
    return FrameworkRow(label, runs, throughput, median(rates) if rates else None, throughput and throughput.value * flop / 1e9,
                        max(peaks) if peaks else None, gate, failed[0] if failed else "ok")


def _ranked(rows: list[FrameworkRow]) -> list[FrameworkRow]:
    """Returns rows fastest first; only rows whose gate passed in every run get a rank."""
    rows = sorted(rows, key=lambda row: (-(row.throughput.value if row.throughput else 0), row.label))
    fit = [row.label for row in rows if row.gate == "pass" and row.throughput and row.label != CONTROL]
    return [replace(row, rank=fit.index(row.label) + 1 if row.label in fit else None) for row in rows]


def _ratio(runs: list[dict], peer_runs: list[dict]) -> Interval | None:
    """Returns throughput over the peer's, paired by block; None unless they share a block with two ok runs."""
    rates = {run["block"]: run_throughput(run) for run in runs}
    peer = {run["block"]: run_throughput(run) for run in peer_runs}
    logs = [math.log(rates[block] / peer[block]) for block in sorted(rates) if rates[block] and peer.get(block)]
    return of_mean(logs).exp() if logs else None
