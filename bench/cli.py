"""The command `weir-bench`: run a lockstep session, list the cases, export them."""

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from weir_reports.console import NOTHING_MEASURED, OK, run_app
from weir_reports.limits import TimeLimit, TimeLimitOption
from weir_reports.records import keep, save, seal

from . import cases as catalogue
from .case import case_id, display_name
from .compare import CONFIRM, SCREEN, Comparison
from .compare import compare as compare_sides
from .instructions import NoValgrind
from .instructions import count as count_instructions
from .instructions import record as instructions_record
from .lockstep import CannotStart, Plan, Session
from .notes import notes as release_notes
from .process import WorkerDied
from .sides import CannotCompare, side_of
from .table import show, show_comparison, show_instructions
from .trust import record as trust_record
from .trust import trust as measure_trust

WIDTH = 160  # columns of the table in a file or pipe

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", help=(
    "Times ops of two frameworks in lockstep, answers checked first.\n\n"
    "Examples:\n\n"
    "- `weir-bench run --group overhead --peer torch` compares weir with PyTorch on small tensors\n"
    "- `weir-bench run --group norm --case softmax --launches 16 --rounds 60` looks closely\n"
    "- `weir-bench run --subject torch --peer torch` is the control: every ratio must cover 1\n"
    "- `weir-bench list --group matmul` shows what would be timed\n\n"
    "- `weir-bench compare main~5 main` says what became slower between two revisions\n"
    "- `weir-bench notes v0.3..v0.4` writes the release note of speed\n\n"
    "Exit codes: 0 measured, 1 usage, 2 something is slower, answers wrongly or raises, 3 inconclusive (too many disturbed rounds), 4 nothing measured.\n"))
GroupOption = Annotated[str, typer.Option(help=f"all, {', '.join(catalogue.GROUPS)}.")]
CaseOption = Annotated[str, typer.Option("--case", help="Only cases whose name contains this.")]
ThreadsOption = Annotated[int, typer.Option(min=1, help="Threads of every worker.")]


@app.command()
def run(group: GroupOption = "all", peer: Annotated[str, typer.Option(help="Module to compare with.")] = "torch",
        subject: Annotated[str, typer.Option(help="Module under test.")] = "weir", threads: ThreadsOption = 1,
        launches: Annotated[int, typer.Option(min=1, help="Times that all workers are restarted.")] = 10,
        rounds: Annotated[int, typer.Option(min=1, help="Rounds of a case per launch; fewer where one call is longer than a block.")] = Plan.rounds,
        block_ms: Annotated[float, typer.Option(min=0.01, help="Milliseconds of one side in one round.")] = Plan.block_ms,
        case: CaseOption = "", seed: Annotated[int, typer.Option(help="Seed of every random order.")] = 0,
        time_limit: TimeLimitOption = None,
        json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
        store: Annotated[Optional[str], typer.Option(help="Append the record to this store (path or URL).")] = None
        ) -> int:
    """Measures, prints a table, and keeps the raw record where --json or --store say."""
    limit = TimeLimit(time_limit)
    chosen = _selected(group, case, threads)
    plan = Plan(launches, rounds, block_ms, threads, seed)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=launches * len(chosen))
        session = Session(subject, peer, chosen, plan, lambda t: bar.update(task, advance=1, description=t), limit=limit)
        try:
            record = session.run()
        except CannotStart as error:
            raise typer.BadParameter(str(error)) from None
    keep(record, json_file, store)
    return show(record, console)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(help="Before: a revision, wheel, build folder, interpreter or module.")],
    b: Annotated[str, typer.Argument(help="After: the same kinds.")],
    module: Annotated[str, typer.Option(help="The module to import from both.")] = "weir",
    group: GroupOption = "all", case: CaseOption = "", threads: ThreadsOption = 1,
    fail_below: Annotated[float, typer.Option(help="Ratio (time before / time after) from which down a confirmed change fails.")] = 1.0,
    quick: Annotated[bool, typer.Option(help="A fifth of the budget: finds large changes only.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of every random order.")] = 0,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write both looks and the verdicts here.")] = None,
    store: Annotated[Optional[str], typer.Option(help="Append the records to this store (path or URL).")] = None,
) -> int:
    """Says where B is slower or faster than A: a screening of all cases, then a confirmation of those that look changed.

    Exit codes: 0 nothing is slower, 2 something is, 3 too many rounds were disturbed to tell, 4 nothing was measured.

    Examples: `weir-bench compare main~5 main`, `weir-bench compare old.whl build/release --group overhead`
    """
    found = _compared(a, b, module, _selected(group, case, threads), threads, quick, seed)
    _keep(found, json_file, store)
    return show_comparison(found, Console(width=None if sys.stdout.isatty() else WIDTH), fail_below)


@app.command()
def notes(
    revisions: Annotated[str, typer.Argument(help="A..B: two sides as in `compare`.")],
    module: Annotated[str, typer.Option(help="The module to import from both.")] = "weir",
    group: GroupOption = "all", case: CaseOption = "", threads: ThreadsOption = 1,
    quick: Annotated[bool, typer.Option(help="A fifth of the budget.")] = False,
    out: Annotated[Optional[Path], typer.Option(help="Write the Markdown here.")] = None,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write both looks and the verdicts here.")] = None,
) -> int:
    """Writes the release note of speed from A to B: ops optimised and regressed, with intervals.

    Example: `weir-bench notes v0.3..v0.4 --out notes.md`
    """
    before, dots, after = revisions.partition("..")
    if not (dots and before and after):
        raise typer.BadParameter(f"expected A..B, got {revisions!r}")
    found = _compared(before, after, module, _selected(group, case, threads), threads, quick, 0)
    _keep(found, json_file, None)
    text = release_notes(found)
    if out is not None:
        out.write_text(text)
    print(text)
    return OK


@app.command()
def trust(
    side: Annotated[str, typer.Argument(help="What is compared with itself.")] = "weir",
    group: GroupOption = "overhead", case: CaseOption = "", threads: ThreadsOption = 1,
    runs: Annotated[int, typer.Option(min=1, help="Comparisons per planted slow-down.")] = 1,
    quick: Annotated[bool, typer.Option(help="A fifth of the budget.")] = False,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
    store: Annotated[Optional[str], typer.Option(help="Append the record to this store (path or URL), for the report.")] = None,
) -> int:
    """Measures `compare` itself: alarms where nothing changed, and how many planted slow-downs of 5%, 10% and 20% it finds.

    Example: `weir-bench trust torch --group overhead --runs 3`
    """
    plans = _plans(threads, quick, 0)
    with _bar() as progress:
        found = measure_trust(_side(side, side), _selected(group, case, threads), runs=runs, screen=plans[0], confirm=plans[1],
                              progress=progress)
    for slow_down, cases in found.cases.items():
        what = f"slowed down by {slow_down:.0%}" if slow_down else "unchanged"
        print(f"{what}: {found.slower[slow_down]} of {cases} cases called slower, in {found.alarmed[slow_down]} of {found.runs[slow_down]} runs")
    keep(seal(trust_record(found, side, group, threads)), json_file, store)
    return OK


@app.command()
def instructions(
    a: Annotated[str, typer.Argument(help="Before: the same kinds of side as in `compare`.")],
    b: Annotated[str, typer.Argument(help="After.")],
    module: Annotated[str, typer.Option(help="The module to import from both.")] = "weir",
    group: GroupOption = "overhead", case: CaseOption = "",
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
    store: Annotated[Optional[str], typer.Option(help="Append the record to this store (path or URL), for the report.")] = None,
) -> int:
    """Counts instructions per call of both sides under valgrind: free of noise, for cases that are all call path.

    Exit codes: 0 no case needs over 1% more, 2 one does, 4 nothing was counted (valgrind is not there).

    Example: `weir-bench instructions main~5 main --case add`
    """
    cases = [c for c in _selected(group, case, 1) if c["mode"] != "import"]
    try:
        with _bar() as progress:
            found = [count_instructions(_side(text, module), cases, progress) for text in (a, b)]
    except (NoValgrind, WorkerDied) as error:
        print(error, file=sys.stderr)
        return NOTHING_MEASURED
    keep(seal(instructions_record(*found, cases, module)), json_file, store)
    return show_instructions(*found, cases, Console(width=None if sys.stdout.isatty() else WIDTH))


@app.command("list")
def list_cases(group: GroupOption = "all", case: CaseOption = "", threads: ThreadsOption = 1) -> None:
    """Lists the cases: id, name, mode, bytes and floating-point operations."""
    for c in _selected(group, case, threads):
        print(f"{case_id(c)[:12]}  {display_name(c):58}  {c['mode']:7} {c['bytes']:>12,} B {c['flops']:>14,} flop")


@app.command()
def export(file: Annotated[Path, typer.Argument(help="JSON file to write.")], threads: ThreadsOption = 1) -> None:
    """Writes the case list as JSON, with ids and strides spelled out, for a program in another language."""
    listed = [{"case_id": case_id(c), "name": display_name(c), **c} for c in catalogue.all_cases(threads)]
    file.write_text(json.dumps({"cases": listed}, indent=1) + "\n")
    print(f"{len(listed)} cases written to {file}")


def _side(text: str, module: str):
    try:
        return side_of(text, module, lambda line: print(line, file=sys.stderr))
    except CannotCompare as error:
        raise typer.BadParameter(str(error)) from None


def _plans(threads: int, quick: bool, seed: int) -> tuple:
    share = 0.2 if quick else 1.0
    return tuple(replace(plan, rounds=round(plan.rounds * share), threads=threads, seed=plan.seed + seed) for plan in (SCREEN, CONFIRM))


@contextmanager
def _bar():
    with Progress(TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda text: bar.update(task, description=text)


def _compared(a: str, b: str, module: str, cases: list, threads: int, quick: bool, seed: int) -> Comparison:
    sides = _side(a, module), _side(b, module)
    try:
        with _bar() as progress:
            return compare_sides(*sides, cases, *_plans(threads, quick, seed), progress)
    except CannotStart as error:
        raise typer.BadParameter(str(error)) from None


def _keep(found: Comparison, json_file: Path | None, store: str | None) -> None:
    records = [record for record in (found.screen, found.confirm) if record]
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        changes = {name: [{"case_id": c.figures.case_id, "ratio": c.figures.ratio.value, "chance": c.chance} for c in listed]
                   for name, listed in (("slower", found.slower), ("faster", found.faster))}
        json_file.write_text(json.dumps({"a": found.a.as_dict(), "b": found.b.as_dict(), **changes, "records": records}))
    for record in records if store is not None else ():
        save(record, store)


def _selected(group: str, case: str, threads: int) -> list[dict]:
    try:
        chosen = catalogue.select(group, case, threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    if not chosen:
        raise typer.BadParameter(f"no case of group {group!r} has {case!r} in its name")
    return chosen


def main() -> None:
    """Runs the command line. Exit codes: 0 measured, 1 usage, 3 inconclusive, 4 nothing measured."""
    run_app(app)
