"""Commands that measure the harness: false alarms, and planted faults that it notices."""

from pathlib import Path
from typing import Annotated, Optional

import typer

from .. import view
from ..campaign import mutate as mutating
from ..campaign import tasks
from ..record import campaign_record, mutation_record
from .common import Ops, Tier, campaign_of, names, settings_of
from .records import console, write


app = typer.Typer()


@app.command()
def calibrate(
    ops: Ops = "", dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes, as a,b,c.")] = "float32",
    cases: Annotated[int, typer.Option(help="Calls per overload and dtype.")] = 50,
    capability: Annotated[str, typer.Option(help="PyTorch's instruction set in the subject: default, avx2.")] = "default",
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
) -> None:
    """Compare PyTorch's scalar kernels with its vector kernels: every failure is a false alarm.

    \b
    Example:
      weir-autotest calibrate --dtypes float32,bfloat16
    """
    finished = campaign_of(tasks.Settings("torch", names(dtypes), names(ops), cases=cases,
                                           environment={"ATEN_CPU_CAPABILITY": capability}))
    made = campaign_record(finished)
    view.failures(made, False, console())
    view.false_alarms(finished, console())
    write(json_file, made)


@app.command()
def mutate(
    subject: Annotated[str, typer.Option(help="A right subject to plant faults in.")] = "torch", ops: Ops = "",
    tier: Tier = "pr",
    dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes of the tensors, as a,b,c, in place of the tier's.")] = "",
    cases: Annotated[int, typer.Option(help="Calls per overload, in place of the tier's.")] = 0,
    every: Annotated[int, typer.Option(help="Take every n-th overload only, but all that a fault is aimed at.")] = 25,
    json_file: Annotated[Optional[Path], typer.Option("--json", help="Write the record here.")] = None,
) -> None:
    """Plant faults in a right subject, run the tier as users do, excuses included, and print how many of them are noticed.

    \b
    Example:
      weir-autotest mutate --every 5
    """
    with view.progress() as (on_start, on_overload):
        kills = mutating.mutate(settings_of(tier, subject, ops, dtypes, cases), every=every, on_start=on_start, on_overload=on_overload)
    view.kills(kills, console())
    write(json_file, mutation_record(kills, every))
