"""The command `weir-bench`: run a lockstep session, list the cases, export them."""

import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from weir_reports.console import run_app
from weir_reports.records import save

from . import cases as catalogue
from .case import case_id, display_name
from .lockstep import CannotStart, Plan, Session
from .table import show

WIDTH = 160  # columns of the table in a file or pipe

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", help=(
    "Times ops of two frameworks in lockstep, answers checked first.\n\n"
    "Examples:\n\n"
    "- `weir-bench run --group overhead --peer torch` compares weir with PyTorch on small tensors\n"
    "- `weir-bench run --group norm --case softmax --launches 12 --rounds 20 --block-ms 10` looks closely\n"
    "- `weir-bench run --subject torch --peer torch` is the control: every ratio must cover 1\n"
    "- `weir-bench list --group matmul` shows what would be timed\n\n"
    "Exit codes: 0 measured, 1 usage, 3 inconclusive (too many disturbed rounds), 4 nothing measured.\n"))
GroupOption = Annotated[str, typer.Option(help=f"all, {', '.join(catalogue.GROUPS)}.")]
CaseOption = Annotated[str, typer.Option("--case", help="Only cases whose name contains this.")]
ThreadsOption = Annotated[int, typer.Option(min=1, help="Threads of every worker.")]


@app.command()
def run(group: GroupOption = "all", peer: Annotated[str, typer.Option(help="Module to compare with.")] = "torch",
        subject: Annotated[str, typer.Option(help="Module under test.")] = "weir", threads: ThreadsOption = 1,
        launches: Annotated[int, typer.Option(min=1, help="Times that all workers are restarted.")] = 10,
        rounds: Annotated[int, typer.Option(min=1, help="Rounds of a case per launch.")] = 4,
        block_ms: Annotated[float, typer.Option(min=0.01, help="Milliseconds of one side in one round.")] = 5.0,
        case: CaseOption = "", seed: Annotated[int, typer.Option(help="Seed of every random order.")] = 0,
        json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
        store: Annotated[Optional[str], typer.Option(help="Append the record to this store (path or URL).")] = None
        ) -> int:
    """Measures, prints a table, and keeps the raw record where --json or --store say."""
    chosen = _selected(group, case, threads)
    plan = Plan(launches, rounds, block_ms, threads, seed)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=launches * len(chosen))
        session = Session(subject, peer, chosen, plan, lambda t: bar.update(task, advance=1, description=t))
        try:
            record = session.run()
        except CannotStart as error:
            raise typer.BadParameter(str(error)) from None
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(record))
    if store is not None:
        save(record, store)
    return show(record, console)


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
