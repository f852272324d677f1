"""The command `weir-dlperf`: freeze a plan, run it, show what it says."""

import json
import sys
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from weir_reports.console import run_app
from weir_reports.dlperf_figures import run_throughput
from weir_reports.limits import TimeLimit, TimeLimitOption
from weir_reports.records import keep, save, seal

from . import inference, mllog, side_by_side
from .frameworks import FRAMEWORKS
from .inference import ENGINES
from .models import MODELS
from .plan import Plan
from .runner import TIMEOUT_S, Runner, cores, freeze
from .table import LAYOUTS, answer_times, answers_code, show, show_programs

WIDTH = 160  # columns of the table in a file or pipe
QUICK = {"blocks": 3, "steps": 3, "warmup": 1, "gate_steps": 3}

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", help=(
    "Measures training and inference of whole models over several frameworks.\n\n"
    "Examples:\n\n"
    "- `weir-dlperf run` compares weir with PyTorch's modes on ResNet50 and BERT, in fp32 and bf16\n"
    "- `weir-dlperf run --quick --models bert` takes minutes\n"
    "- `weir-dlperf run --preset tiny --frameworks torch-eager,torch-control` is a control that takes seconds\n"
    "- `weir-dlperf run --data real --json runs/real` trains on files through each framework's DataLoader\n"
    "- `weir-dlperf run --models resnet50 --batch-sizes 4,8,16 --layout dlperf` sweeps, and prints DLPerf's tables too\n"
    "- `weir-dlperf infer` times answers of frozen graphs beside PyTorch and onnxruntime\n"
    "- `weir-dlperf programs train.py` runs a program of yours under weir and under PyTorch\n\n"
    "Exit codes: 0 measured, 1 usage, 2 a gate failed, 3 no ratio has an interval, 4 nothing measured.\n"))


@app.command()
def run(models: Annotated[str, typer.Option(help=f"Of {', '.join(MODELS)}.")] = "resnet50,bert",
        precision: Annotated[str, typer.Option(help="Of fp32, bf16.")] = "fp32,bf16",
        frameworks: Annotated[str, typer.Option(help=f"Of {', '.join(FRAMEWORKS)}.")] = ",".join(Plan.frameworks),
        threads: Annotated[int, typer.Option(min=1, help="Threads and cores of every run.")] = Plan.threads,
        blocks: Annotated[Optional[int], typer.Option(min=1, help="Times that everything runs.")] = None,
        steps: Annotated[Optional[int], typer.Option(min=1, help="Timed steps of a run.")] = None,
        warmup: Annotated[Optional[int], typer.Option(min=0, help="Steps before them.")] = None,
        gate_steps: Annotated[Optional[int], typer.Option(min=1, help="Steps that the gate compares.")] = None,
        batch_sizes: Annotated[Optional[str], typer.Option(help="Samples per step, for every model: 16, or 4,8,16.")] = None,
        preset: Annotated[str, typer.Option(help="full, or tiny: a smoke test that no claim may use.")] = "full",
        data: Annotated[str, typer.Option(help="synthetic or real.")] = "synthetic",
        seed: Annotated[int, typer.Option(help="Seed of weights, data and order.")] = Plan.seed,
        quick: Annotated[bool, typer.Option(help=f"Small budgets where none is given: {QUICK}.")] = False,
        layout: Annotated[str, typer.Option(help="weir, or dlperf: also the tables of Oneflow-Inc/DLPerf.")] = "weir",
        time_limit: TimeLimitOption = None,
        json_dir: Annotated[Optional[Path], typer.Option("--json", help="Write plan, records and MLPerf logs here.")] = None,
        store: Annotated[Optional[str], typer.Option(help="Append the records to this store (path or URL).")] = None
        ) -> int:
    """Runs a plan: the gate first, then interleaved blocks, a fresh process for every run."""
    given = {"blocks": blocks, "steps": steps, "warmup": warmup, "gate_steps": gate_steps}
    budget = {**(QUICK if quick else {}), **{name: value for name, value in given.items() if value is not None}}
    plan = Plan(models=_choice("model", models, MODELS), precisions=_choice("precision", precision, ("fp32", "bf16")),
                frameworks=_choice("framework", frameworks, FRAMEWORKS), threads=threads,
                preset=_choice("preset", preset, ("full", "tiny"))[0], seed=seed,
                data=_choice("data", data, ("synthetic", "real"))[0], **budget,
                batch_sizes=_sizes(batch_sizes))
    _choice("layout", layout, LAYOUTS)
    try:
        runner = Runner(plan, limit=TimeLimit(time_limit))
        if json_dir is not None:
            freeze(plan, json_dir / "plan.json")
    except (ValueError, FileExistsError) as error:
        raise typer.BadParameter(str(error)) from None
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    console.print(f"plan {plan.plan_id[:12]}: {len(plan.order())} runs", highlight=False)
    return show(_carry_out(runner, json_dir, store), console, layout)


@app.command()
def infer(models: Annotated[str, typer.Option(help=f"Of {', '.join(MODELS)}.")] = "resnet50,bert",
          engines: Annotated[str, typer.Option(help=f"Of {', '.join(ENGINES)}; the first is what the others are compared with.")] = ",".join(ENGINES),
          batch_sizes: Annotated[str, typer.Option(help="Samples of one answer: 1,16.")] = "1,16",
          threads: Annotated[int, typer.Option(min=1, help="Threads and cores of every engine.")] = Plan.threads,
          launches: Annotated[int, typer.Option(min=1, help="Processes, each with every engine.")] = 3,
          blocks: Annotated[int, typer.Option(min=1, help="Turns of every engine in a process.")] = 5,
          block_ms: Annotated[float, typer.Option(min=0, help="About how long a turn takes; one answer at least.")] = 100,
          preset: Annotated[str, typer.Option(help="full, or tiny: a smoke test that no claim may use.")] = "full",
          seed: Annotated[int, typer.Option(help="Seed of weights, batch and order.")] = Plan.seed,
          json_file: Annotated[Optional[Path], typer.Option("--json", help="Write every time here.")] = None) -> int:
    """Times one answer, float32: every engine in turn, in one process. An engine whose answer is not PyTorch's is not timed."""
    spec = {"engines": _choice("engine", engines, ENGINES), "threads": threads, "affinity": _cores(threads), "blocks": blocks, "block_ms": block_ms,
            "preset": _choice("preset", preset, ("full", "tiny"))[0], "seed": seed}
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    found = []
    for model in _choice("model", models, MODELS):
        for size in _sizes(batch_sizes):
            runs = []
            for number, run in enumerate(inference.launches({**spec, "model": model, "batch_size": size}, launches, TIMEOUT_S), 1):
                print(f"{model} batch {size}: launch {number} of {launches}", file=sys.stderr, flush=True)
                runs.append(run)
            found.append({"model": model, "batch_size": size, "threads": threads, "preset": preset, "launches": runs})
            console.print(answer_times(found[-1]))
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(found, indent=1) + "\n")
    return answers_code(found)


@app.command(name="programs")
def run_programs(paths: Annotated[list[Path], typer.Argument(help=f"Programs, or folders of them; {side_by_side.TOLERANCES} beside them says by how much numbers may differ.")],
                 rounds: Annotated[int, typer.Option(min=1, help="How often each runs under both.")] = 3,
                 threads: Annotated[int, typer.Option(min=1, help="Threads and cores of every run.")] = 1,
                 timeout: Annotated[float, typer.Option(min=1, help="Seconds that a run may take.")] = side_by_side.TIMEOUT_S,
                 seed: Annotated[int, typer.Option(help="Seed of the order.")] = Plan.seed,
                 json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
                 store: Annotated[Optional[str], typer.Option(help="Append the record to this store (path or URL).")] = None) -> int:
    """Runs programs written for PyTorch, unchanged, under weir and under PyTorch: what they print, their time and memory.

    Example: `weir-dlperf programs tests/programs --rounds 5`
    """
    _cores(threads)
    try:
        wanted = side_by_side.find(paths)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    found = side_by_side.compare(wanted, rounds, threads, seed, lambda text: print(text, file=sys.stderr, flush=True), timeout)
    record = seal(side_by_side.record(found, threads))
    keep(record, json_file, store)
    return show_programs(record, Console(width=None if sys.stdout.isatty() else WIDTH))


def _cores(threads: int) -> list[int]:
    try:
        return cores(threads)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _carry_out(runner: Runner, json_dir: Path | None, store: str | None) -> list[dict]:
    """Runs the plan, keeping every record as soon as its run has ended."""
    records = []
    for record in _shown(runner, Console(stderr=True)):
        records.append(record)
        if json_dir is not None:
            name = record["run_id"][:12]
            (json_dir / f"{name}.json").write_text(json.dumps(record))
            mllog.write(record, json_dir / f"{name}.mllog")
        if store is not None:
            save(record, store)
    return records


def _shown(runner: Runner, console: Console):
    """Yields the records as they come, showing progress: a bar on a terminal, elsewhere a line per run."""
    total = len(runner.plan.order())
    if not console.is_terminal:
        yield from _with_lines(runner, total)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        runner.progress = lambda text: bar.update(task, description=text)
        for record in runner.run():
            bar.advance(task)
            yield record


def _with_lines(runner: Runner, total: int):
    start, now = monotonic(), ""

    def say(text: str) -> None:
        print(f"{timedelta(seconds=int(monotonic() - start))}  {text}", file=sys.stderr, flush=True)

    def begun(text: str) -> None:  # a run is told of when it ends, the gate, which makes no record, when it begins
        nonlocal now
        now = text
        if text.startswith("gate"):
            say(text)

    runner.progress = begun
    for count, record in enumerate(runner.run(), 1):
        rate = run_throughput(record)
        say(f"{count}/{total}  {now}  " + (f"{rate:.4g} samples/s" if rate else f"{record['status']}: {record['reason']}"))
        yield record


def _sizes(text: str | None) -> tuple:
    try:
        sizes = tuple(dict.fromkeys(int(part) for part in text.split(","))) if text else ()
    except ValueError:
        raise typer.BadParameter(f"batch sizes: expected numbers such as 4,8,16, got {text!r}") from None
    if any(size < 1 for size in sizes):
        raise typer.BadParameter(f"batch sizes: expected at least 1, got {text!r}")
    return sizes


def _choice(what: str, text: str, known) -> tuple:
    chosen = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise typer.BadParameter(f"unknown {what} {unknown[0]!r}; expected of {', '.join(known)}")
    return chosen


def main() -> None:
    """Runs the command line. Exit codes: 0 measured, 1 usage, 2 gate failed, 3 inconclusive, 4 nothing measured."""
    run_app(app)
