"""The tables that a plan's runs earn, and the exit code."""

from collections import defaultdict
from statistics import median

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from weir_reports.console import GATE_FAILED, INCONCLUSIVE, NOTHING_MEASURED, OK
from weir_reports.dlperf_figures import Workload, run_throughput, sweeps, workloads
from weir_reports.intervals import two_level
from weir_reports.program_figures import programs
from weir_reports.site import duration, interval, percent, size

DLPERF_SIZES = ((1, 1), (1, 4), (1, 8), (2, 8), (4, 8))  # nodes and devices of each, as DLPerf reports them
LAYOUTS = ("weir", "dlperf")


def show(records: list[dict], console: Console, layout: str = "weir") -> int:
    """Prints a table per workload and one per sweep over batch sizes, with layout "dlperf" DLPerf's tables after them.

    Returns the exit code: NOTHING_MEASURED without an ok run, GATE_FAILED if the gate of a framework under test failed (a
    peer's is shown and does not stop anything), INCONCLUSIVE if there are ratios and none has an interval, else OK.
    """
    found = workloads(records)
    for workload in found:
        console.print(_table(workload))
        said: dict[str, list] = {}
        for row in workload.rows:
            if row.gate_reason:
                said.setdefault(row.gate_reason, []).append(row.label)
        for reason, labels in said.items():
            console.print(f"  gate of {', '.join(labels)}: {reason}", highlight=False, markup=False)
    for sweep in sweeps(found):
        console.print(_sweep(sweep))
    if layout == "dlperf":
        console.print("\n".join(dlperf_tables(records)), highlight=False, markup=False, soft_wrap=True)
    if not any(record["status"] == "ok" for record in records):
        return NOTHING_MEASURED
    if any(row.gate == "fail" and not row.is_peer for workload in found for row in workload.rows):
        return GATE_FAILED
    ratios = [ratio for workload in found for ratio in workload.ratios.values()]
    return INCONCLUSIVE if ratios and all(r.low is None for r in ratios) else OK


def show_programs(record: dict, console: Console) -> int:
    """Prints a line per program, those that differ first; GATE_FAILED where one does, else OK."""
    found = programs(record)
    table = Table("program", "prints", *(Column(n, justify="right") for n in ("torch", "weir", "torch/weir [95%]", "whole", "memory")), box=None, pad_edge=False)
    for row in found.rows:
        times = ("" if s is None else duration(s * 1e9) for s in (row.peer_s, row.subject_s))
        table.add_row(row.name, "the same" if row.reason is None else f"[red]{escape(row.reason)}[/]", *times, interval(row.work) if row.work else row.untimed,
                      interval(row.whole) if row.whole else "", percent(row.memory))
    console.print(table)
    console.print(f"{found.same} of {len(found.rows)} programs print the same; times are those of a second run in the process, `whole` is a process that runs the program once", highlight=False)
    return OK if found.same == len(found.rows) else GATE_FAILED


def _table(workload: Workload) -> Table:
    peers = [row.label for row in workload.rows if row.is_peer and row.throughput]
    numbers = ["samples/s [95%]", "median", *(f"/ {peer}" + (" (best)" if peer == workload.best_peer else "") for peer in peers),
               "GFLOP/s", "peak memory"]
    table = Table("framework", *(Column(n, justify="right") for n in numbers), "gate", box=None, pad_edge=False,
                  title=f"{workload.title}, {workload.threads} threads", title_justify="left")
    for row in workload.rows:
        ratios = ["" if row.label == peer else interval(workload.ratios.get((row.label, peer))) for peer in peers]
        rate = interval(row.throughput, "rate") if row.throughput else f"[red]{row.status}[/]: {row.reason}"
        label = f"{row.label} (fastest)" if row.label == workload.fastest else row.label
        table.add_row(label, rate, f"{row.median:.4g}" if row.median else "", *ratios,
                      f"{row.gflops:.0f}" if row.gflops else "", size(row.rss_peak), row.gate)
    return table


def _sweep(sweep: list[Workload]) -> Table:
    """Samples per second by batch size."""
    sizes = [str(w.case["batch_size"]) for w in sweep]
    table = Table("samples/s at batch", *(Column(n, justify="right") for n in sizes), box=None, pad_edge=False,
                  title=f"{sweep[0].name}, {sweep[0].threads} threads", title_justify="left")
    rates = defaultdict(dict)
    for w in sweep:
        for row in w.rows:
            rates[row.label][w.case["batch_size"]] = row
    for label, rows in rates.items():
        found = [rows.get(w.case["batch_size"]) for w in sweep]
        table.add_row(label, *("" if row is None else interval(row.throughput, "rate") if row.throughput else row.status
                               for row in found))
    return table


def answer_times(found: dict) -> Table:
    """The times of one workload of `weir-dlperf infer`, and how each engine's compares with the first one's."""
    runs, labels = found["launches"], list(found["launches"][0])
    smoke = "" if found["preset"] == "full" else f", {found['preset']} preset"
    name = f"{found['model']} fp32 batch {found['batch_size']}, {found['threads']} threads{smoke}"
    table = Table(name, Column("ms of an answer", justify="right"), Column(f"/ {labels[0]} [95%]", justify="right"), box=None, pad_edge=False)
    for label in labels:
        times = [run[label]["ns"] for run in runs]
        if not all(times):
            table.add_row(label, "", f"[red]{next(run[label]['reason'] for run in runs if run[label]['reason'])}[/]")
            continue
        base = [run[labels[0]]["ns"] for run in runs]
        ratio = two_level([np.log(t) - np.log(b) for t, b in zip(times, base, strict=True)]).exp() if all(base) and label != labels[0] else None
        table.add_row(label, f"{median(x for run in times for x in run) / 1e6:.3g}", interval(ratio) if ratio else "")
    return table


def answers_code(found: list[dict]) -> int:
    """GATE_FAILED where the answer of one of weir's engines is not PyTorch's, NOTHING_MEASURED without a time, else OK."""
    runs = [run for workload in found for run in workload["launches"]]
    if any(engine["reason"] for run in runs for label, engine in run.items() if label.startswith("weir")):
        return GATE_FAILED
    return OK if any(engine["ns"] for run in runs for engine in run.values()) else NOTHING_MEASURED


def dlperf_tables(records: list[dict]) -> list[str]:
    """Returns the lines of DLPerf's tables in Markdown: of every framework and workload, by nodes, devices and batch size.

    Its figure is the median of the runs; its speedup is against one device with the same batch. A size that was not
    run has dashes. Source: Oneflow-Inc/DLPerf, README, "Median Value Principle", and the READMEs of its frameworks.
    """
    groups: dict[tuple, dict[tuple, list]] = {}
    for record in records:
        case, launch = record["case"], record["launch"]
        key = (case["model"], case["preset"], case["precision"], case["data"]["mode"], record["framework"]["label"])
        place = (launch["nodes"], launch["devices"], case["batch_size"])
        groups.setdefault(key, {}).setdefault(place, []).append(record)
    return [line for key in sorted(groups) for line in _dlperf_table(key, groups[key])]


def _dlperf_table(key: tuple, places: dict[tuple, list]) -> list[str]:
    model, preset, precision, data, label = key
    rates = {place: [r for run in runs if (r := run_throughput(run))] for place, runs in places.items()}
    absent = [(*size, None) for size in DLPERF_SIZES if not any(place[:2] == size for place in places)]
    rows = []
    for nodes, devices, batch in sorted(rates, key=lambda place: (place[2], *place)) + absent:
        found, alone = rates.get((nodes, devices, batch)), rates.get((1, 1, batch))
        rate = f"{median(found):.2f}" if found else next((r["status"] for r in places.get((nodes, devices, batch), [])), "–")
        speedup = f"{median(found) / median(alone):.2f}" if found and alone else "–"
        rows.append(f"| {nodes} | {devices} | {batch or '–'} | {rate} | {speedup} |")
    count = max((len(r) for r in rates.values()), default=0)
    smoke = "" if preset == "full" else f", {preset} preset"
    return [f"### {model} {precision}{smoke}, {data} data: {label}", "",
            f"| node_num | gpu_num_per_node | batch_size_per_device | samples/s({label}, median of {count}) | speedup |",
            "| --- | --- | --- | --- | --- |", *rows, ""]
