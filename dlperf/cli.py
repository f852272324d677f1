"""The command `weir-dlperf`: freeze a plan, run it, show what it says."""

import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from weir_reports.console import run_app
from weir_reports.records import save

from .frameworks import FRAMEWORKS
from .models import MODELS
from .plan import Plan
from .runner import Runner, freeze
from .table import show

WIDTH = 160  # columns of the table in a file or pipe
QUICK = {"blocks": 3, "steps": 3, "warmup": 1, "gate_steps": 3}

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", help=(
    "Measures training throughput of whole models over several frameworks.\n\n"
    "Examples:\n\n"
    "- `weir-dlperf run` compares weir with PyTorch's modes on ResNet50 and BERT, in fp32 and bf16\n"
    "- `weir-dlperf run --quick --models bert` takes minutes\n"
    "- `weir-dlperf run --preset tiny --frameworks torch-eager,torch-control` is a control that takes seconds\n"
    "- `weir-dlperf run --data real --json runs/real` trains on files through each framework's DataLoader\n\n"
    "Exit codes: 0 measured, 1 usage, 2 a gate failed, 3 no ratio has an interval, 4 nothing measured.\n"))


@app.callback()
def _commands() -> None:
    """Keeps `run` a command of its own although it is the only one."""


@app.command()
def run(models: Annotated[str, typer.Option(help=f"Of {', '.join(MODELS)}.")] = "resnet50,bert",
        precision: Annotated[str, typer.Option(help="Of fp32, bf16.")] = "fp32,bf16",
        frameworks: Annotated[str, typer.Option(help=f"Of {', '.join(FRAMEWORKS)}.")] = ",".join(Plan.frameworks),
        threads: Annotated[int, typer.Option(min=1, help="Threads and cores of every run.")] = Plan.threads,
        blocks: Annotated[Optional[int], typer.Option(min=1, help="Times that everything runs.")] = None,
        steps: Annotated[Optional[int], typer.Option(min=1, help="Timed steps of a run.")] = None,
        warmup: Annotated[Optional[int], typer.Option(min=0, help="Steps before them.")] = None,
        gate_steps: Annotated[Optional[int], typer.Option(min=1, help="Steps that the gate compares.")] = None,
        batch_size: Annotated[Optional[int], typer.Option(min=1, help="Samples per step, for every model.")] = None,
        preset: Annotated[str, typer.Option(help="full, or tiny: a smoke test that no claim may use.")] = "full",
        data: Annotated[str, typer.Option(help="synthetic or real.")] = "synthetic",
        seed: Annotated[int, typer.Option(help="Seed of weights, data and order.")] = Plan.seed,
        quick: Annotated[bool, typer.Option(help=f"Small budgets where none is given: {QUICK}.")] = False,
        json_dir: Annotated[Optional[Path], typer.Option("--json", help="Write plan and records here.")] = None,
        store: Annotated[Optional[str], typer.Option(help="Append the records to this store (path or URL).")] = None
        ) -> int:
    """Runs a plan: the gate first, then interleaved blocks, a fresh process for every run."""
    given = {"blocks": blocks, "steps": steps, "warmup": warmup, "gate_steps": gate_steps}
    budget = {**(QUICK if quick else {}), **{name: value for name, value in given.items() if value is not None}}
    plan = Plan(models=_choice("model", models, MODELS), precisions=_choice("precision", precision, ("fp32", "bf16")),
                frameworks=_choice("framework", frameworks, FRAMEWORKS), threads=threads,
                preset=_choice("preset", preset, ("full", "tiny"))[0], seed=seed,
                data=_choice("data", data, ("synthetic", "real"))[0], **budget,
                batch_sizes={model: batch_size for model in MODELS} if batch_size else {})
    try:
        runner = Runner(plan)
        if json_dir is not None:
            freeze(plan, json_dir / "plan.json")
    except (ValueError, FileExistsError) as error:
        raise typer.BadParameter(str(error)) from None
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    console.print(f"plan {plan.plan_id[:12]}: {len(plan.order())} runs", highlight=False)
    return show(_carry_out(runner, json_dir, store), console)


def _carry_out(runner: Runner, json_dir: Path | None, store: str | None) -> list[dict]:
    """Runs the plan with a progress bar, keeping every record as soon as its run has ended."""
    records = []
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=len(runner.plan.order()))
        runner.progress = lambda text: bar.update(task, description=text)
        for record in runner.run():
            bar.advance(task)
            records.append(record)
            if json_dir is not None:
                (json_dir / f"{record['run_id'][:12]}.json").write_text(json.dumps(record))
            if store is not None:
                save(record, store)
    return records


def _choice(what: str, text: str, known) -> tuple:
    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise typer.BadParameter(f"unknown {what} {unknown[0]!r}; expected of {', '.join(known)}")
    return chosen


def main() -> None:
    """Runs the command line. Exit codes: 0 measured, 1 usage, 2 gate failed, 3 inconclusive, 4 nothing measured."""
    run_app(app)
