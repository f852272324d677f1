"""The table that a plan's runs earn, and the exit code."""

from rich.console import Console
from rich.table import Column, Table
from weir_reports.console import GATE_FAILED, INCONCLUSIVE, NOTHING_MEASURED, OK
from weir_reports.dlperf_figures import Workload, workloads
from weir_reports.site import interval, size


def show(records: list[dict], console: Console) -> int:
    """Prints a table per workload and returns the exit code: NOTHING_MEASURED without an ok run, GATE_FAILED if the
    gate of a framework under test failed (a peer's is shown and does not stop anything), INCONCLUSIVE if there are ratios and none has an interval, else OK."""
    found = workloads(records)
    for workload in found:
        console.print(_table(workload))
    if not any(record["status"] == "ok" for record in records):
        return NOTHING_MEASURED
    if any(row.gate == "fail" and not row.is_peer for workload in found for row in workload.rows):
        return GATE_FAILED
    ratios = [ratio for workload in found for ratio in workload.ratios.values()]
    return INCONCLUSIVE if ratios and all(r.low is None for r in ratios) else OK


def _table(workload: Workload) -> Table:
    peers = [row.label for row in workload.rows if row.is_peer and row.throughput]
    numbers = ["samples/s [95%]", *(f"/ {peer}" + (" (best)" if peer == workload.best_peer else "") for peer in peers),
               "GFLOP/s", "peak memory"]
    table = Table("framework", *(Column(n, justify="right") for n in numbers), "gate", box=None, pad_edge=False,
                  title=f"{workload.title}, {workload.threads} threads", title_justify="left")
    for row in workload.rows:
        ratios = ["" if row.label == peer else interval(workload.ratios.get((row.label, peer))) for peer in peers]
        rate = interval(row.throughput, "rate") if row.throughput else f"[red]{row.status}[/]: {row.runs[0]['reason']}"
        reason = row.runs[0]["gate"].get("reason")
        table.add_row(row.label, rate, *ratios, f"{row.gflops:.0f}" if row.gflops else "", size(row.rss_peak),
                      row.gate + (f": {reason}" if reason else ""))
    return table
