"""The table that a session prints, and the exit code it earns."""

from rich.console import Console
from rich.table import Column, Table
from weir_reports.bench_figures import NOTABLE
from weir_reports.console import GATE_FAILED, INCONCLUSIVE, NOTHING_MEASURED, OK
from weir_reports.site import duration, interval, percent

from .case import case_id, display_name
from .compare import Comparison
from .instructions import Counts
from .stats import case_figures, group_figures

STYLE = {"faster": "green", "slower": "red", "WRONG": "bold red", "ERROR": "bold red", "MISSING": "yellow",
         "inconclusive": "yellow"}
BROKEN = ("WRONG", "ERROR")


def show(record: dict, console: Console) -> int:
    """Prints the cases and groups of a record, what went wrong last, and returns the exit code: NOTHING_MEASURED if no case was timed,
    GATE_FAILED if an answer is wrong or the subject raised or ended, INCONCLUSIVE if at least half of the timed ones reached no conclusion,
    else OK."""
    figures = [case_figures(entry, record["run_id"]) for entry in record["cases"]]
    peer, subject = record["peer"]["name"], record["subject"]["name"]
    numbers = (peer, subject, f"{peer}/{subject} [95%]", "roofline")
    table = Table(Column("case", no_wrap=True), "mode", *(Column(n, justify="right", no_wrap=True) for n in numbers),
                  "verdict", box=None, pad_edge=False)
    for f in figures:
        verdict = f.verdict if f.state == "OK" else f.state
        note = f": {f.reason}" if f.reason else ""
        table.add_row(f"{f.case['group']}/{f.name}", f.case["mode"], duration(f.peer_ns), duration(f.subject_ns),
                      interval(f.ratio), percent(f.roofline), f"[{STYLE.get(verdict, 'default')}]{verdict}[/]{note}")
    console.print(table)
    for g in group_figures(figures):
        if g.mean is not None:
            console.print(f"[b]{g.group}[/b]: geometric mean {interval(g.mean)}, worst {interval(g.worst.ratio)} "
                          f"({g.worst.name})", highlight=False)
    timed = [f for f in figures if f.ratio is not None or f.voided]
    broken = [f for f in figures if f.state in BROKEN]
    for f in broken:
        console.print(f"[{STYLE[f.state]}]{f.state}[/] {f.case['group']}/{f.name}: {f.reason}", highlight=False)
    if not timed:
        return NOTHING_MEASURED
    if broken:
        return GATE_FAILED
    return INCONCLUSIVE if 2 * sum(f.verdict == "inconclusive" for f in timed) >= len(timed) else OK


def show_instructions(a: Counts, b: Counts, cases: list[dict], console: Console) -> int:
    """Prints the instructions per call of both sides, and returns GATE_FAILED if `b` needs notably more of a case than `a`."""
    table = Table(Column("case", no_wrap=True), *(Column(n, justify="right", no_wrap=True) for n in (a.side.label, b.side.label, "more")),
                  box=None, pad_edge=False)
    grown = 0
    for case in cases:
        key = case_id(case)
        if key in a.calls and key in b.calls:
            more = b.calls[key] / a.calls[key] - 1
            grown += more > NOTABLE
            table.add_row(display_name(case), f"{a.calls[key]:,.0f}", f"{b.calls[key]:,.0f}", f"{'[red]' if more > NOTABLE else ''}{more:+.1%}")
        else:
            table.add_row(display_name(case), "-", "-", a.reasons.get(key) or b.reasons.get(key, ""))
    console.print(table)
    return GATE_FAILED if grown else OK


def show_comparison(found: Comparison, console: Console, fail_below: float = 1.0) -> int:
    """Prints what changed for certain and the groups, and returns the exit code: GATE_FAILED if a case is slower by a ratio below
    `fail_below`, NOTHING_MEASURED if no case was timed, INCONCLUSIVE if at least half of them were disturbed too often."""
    figures = found.figures
    timed = [f for f in figures if f.ratio is not None or f.voided]
    table = Table("case", Column(found.a.label, justify="right"), Column(found.b.label, justify="right"), Column("ratio [95%]", justify="right"),
                  "verdict", box=None, pad_edge=False)
    for verdict, changes in (("slower", found.slower), ("faster", found.faster)):
        for change in sorted(changes, key=lambda c: c.figures.ratio.value):
            f = change.figures
            table.add_row(f"{f.case['group']}/{f.name}", duration(f.peer_ns), duration(f.subject_ns), interval(f.ratio), f"[{STYLE[verdict]}]{verdict}[/]")
    for f in figures:
        if f.state != "OK":
            table.add_row(f"{f.case['group']}/{f.name}", "", "", "", f"[{STYLE.get(f.state, 'default')}]{f.state}[/]: {f.reason}")
    if table.row_count:
        console.print(table)
    for g in group_figures(figures):
        if g.mean is not None:
            console.print(f"[b]{g.group}[/b]: geometric mean {interval(g.mean)} of {sum(f.ratio is not None for f in g.cases)} cases", highlight=False)
    console.print(f"{len(timed)} cases compared, {len(found.confirm['cases']) if found.confirm else 0} looked at twice: {len(found.slower)} slower, "
                  f"{len(found.faster)} faster, {len(found.inconclusive)} inconclusive", highlight=False)
    if not timed:
        return NOTHING_MEASURED
    if any(change.figures.ratio.value < fail_below for change in found.slower):
        return GATE_FAILED
    return INCONCLUSIVE if 2 * len(found.inconclusive) >= len(timed) else OK
