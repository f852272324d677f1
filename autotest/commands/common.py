"""What commands share: options, the project's settings, and runs with a progress bar."""

import os
from pathlib import Path
from typing import Annotated

import typer
from weir_reports.limits import TimeLimit

from .. import view
from ..campaign import replay as replaying
from ..campaign import run as campaign
from ..campaign import shrink as shrinking
from ..campaign import tasks
from ..campaign.tasks import UsageError
from ..cases import database
from ..config import Config
from ..opdb.run import Result, Settings, run
from ..record import campaign_record
from ..tiers import NIGHTLY, TIERS

COMPLETED, USAGE, FELL, INTERRUPTED = 0, 1, 2, 130  # exit codes

Subject = Annotated[str, typer.Option(help="Module under test; `torch` is the control.")]
Dtype = Annotated[str, typer.Option(help="dtype of the samples, by name.")]
Ops = Annotated[str, typer.Option(help="Only these ops, as a,b,c (a name stands for all its variants).")]
Jobs = Annotated[int, typer.Option(help="Pairs of oracle and subject processes; 0: one per core.")]
MaxSamples = Annotated[int, typer.Option(help="Samples per op, evenly spread; 0: all.")]
CasesFolder = Annotated[Path, typer.Option("--folder", help="The failure database, a folder of JSON files.")]
Timeout = Annotated[float, typer.Option(help="Seconds the subject may take per op.")]
Shard = Annotated[str, typer.Option(help="Only this part of the rows, as I/N with I from 0; `slurm` reads the array task.")]
Tier = Annotated[str, typer.Option(help="How much: " + "; ".join(f"{name}: {t.promise}" for name, t in TIERS.items()) + f"; {NIGHTLY}: search for --minutes, file the cases.")]

_config = [Config({})]


def config() -> Config:
    """What the project's autotest.toml says."""
    return _config[0]


def configure(found: Config) -> None:
    """Sets what the project's autotest.toml says."""
    _config[0] = found


def settings_of(tier: str, subject: str, ops: str, dtypes: str = "", cases: int = 0, **more) -> tasks.Settings:
    """The settings of a tier, with what was typed in place of its own. Raises UsageError for an unknown one."""
    if tier not in TIERS:
        raise UsageError(f"unknown tier {tier!r}; there are {', '.join(TIERS)}")
    return tasks.Settings(subject, names(dtypes) or TIERS[tier].dtypes, names(ops), config().leave_out, cases or TIERS[tier].cases,
                          properties=config().properties, errors=config().errors, tolerances=config().tolerances, **more)


def shard_of(text: str) -> tuple:
    """`I/N` or `slurm` as numbers. An array task that died is told by its missing part, at the merge."""
    try:
        if text == "slurm":
            task, least, count = (int(os.environ[f"SLURM_ARRAY_TASK_{name}"]) for name in ("ID", "MIN", "COUNT"))
            text = f"{task - least}/{count}"
        part, parts = map(int, (text or "0/1").split("/"))
    except KeyError as error:
        raise UsageError(f"--shard slurm runs inside an array job: {error.args[0]} is not set") from None
    except ValueError:
        raise UsageError(f"--shard: expected I/N or slurm, got {text!r}") from None
    if not 0 <= part < parts:
        raise UsageError(f"--shard: I must be from 0 to N - 1, got {text}")
    return part, parts


def recorded(settings: tasks.Settings, with_scripts: bool = False, limit: TimeLimit = TimeLimit()) -> dict:
    """The record of a run of generated calls, if asked for with a small script for each failure."""
    finished = campaign_of(settings, limit)
    scripts = {}
    if with_scripts and not finished.unfinished:
        for shrunk in shrinking.shrink_all(settings, [score for score in finished.scores if score.failed]):
            failure = shrunk.failure
            scripts[failure.overload, failure.dtype, failure.property] = shrunk.script
    return campaign_record(finished, scripts)


def replayed_by(subject: str, stored: list) -> list:
    """Runs stored cases and prints those that fail."""
    with view.progress() as (on_start, on_entry):
        on_start(len(stored))
        done = replaying.replay(tasks.Settings(subject), stored, on_entry)
    for replayed in done:
        for failure in replayed.failures:
            typer.echo(f"FAIL {replayed.entry.name} {failure.property}: {failure.reason}\n    {failure.call}")
    typer.echo(f"{sum(replayed.passed for replayed in done)} of {len(done)} stored cases pass")
    return done


def run_of(settings: Settings, limit: TimeLimit = TimeLimit()) -> Result:
    """A run of the databases, with a progress bar."""
    with view.progress() as (on_start, on_cell):
        return run(settings, on_start, lambda cell: on_cell(cell.name), limit)


def campaign_of(settings: tasks.Settings, limit: TimeLimit = TimeLimit()) -> campaign.Campaign:
    """A run of generated calls, with a progress bar."""
    with view.progress() as (on_start, on_score):
        return campaign.run(settings, on_start, lambda score: on_score(score.overload), limit)


def show(shrunk: shrinking.Shrunk, cases_folder: Path | None) -> None:
    """Prints a failure's script, and files its case if there is a folder for it."""
    typer.echo(shrunk.script + "\n")
    if cases_folder:
        typer.echo(f"# {database.save(cases_folder, shrunk.item, shrunk.failure)}\n")


def ended(made: dict, limit: TimeLimit = TimeLimit()) -> None:
    """Ends a command whose run ended early: what was done is in its record, and is not the whole."""
    if made.get("unfinished"):
        over = not limit.allows()
        typer.echo(f"{'out of time' if over else 'interrupted'}: {made['unfinished']} of the rows asked for were not run", err=True)
        raise typer.Exit(COMPLETED if over else INTERRUPTED)


def names(text: str) -> tuple:
    """`a,b,c` as names."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def jobs_of(jobs: int) -> int:
    """How many lanes: as many as cores for 0."""
    return jobs if jobs > 0 else os.cpu_count() or 1
