"""Commands that look for failing cases and make them small."""

from pathlib import Path
from typing import Annotated

import typer

from .. import view
from ..campaign import search as searching
from ..campaign import shrink as shrinking
from ..campaign import tasks
from ..campaign.lane import Lane
from .common import CasesFolder, Dtype, Ops, Subject, campaign_of, names, show
from .records import console


app = typer.Typer()


@app.command()
def shrink(
    op: Annotated[str, typer.Argument(help="Operation or overload, such as add or add.Tensor.")],
    subject: Subject = "weir", dtype: Dtype = "float32",
    cases: Annotated[int, typer.Option(help="Calls to look through.")] = 50,
    first: Annotated[int, typer.Option(help="Index of the first call.")] = 0,
    save: Annotated[bool, typer.Option(help="Store the shrunk cases in the failure database.")] = False,
    cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Find failing calls of an operation and print each kind, made small, as a script of its own.

    \b
    Example:
      weir-autotest shrink clamp --dtype float32
    """
    settings = tasks.Settings(subject, (dtype,), (op,), cases=cases, first=first)
    finished = campaign_of(settings)
    for shrunk in shrinking.shrink_all(settings, finished.scores):
        show(shrunk, cases_folder if save else None)


@app.command()
def search(
    minutes: Annotated[float, typer.Option(help="How long to look for cases.")] = 5.0,
    subject: Subject = "weir", ops: Ops = "",
    dtypes: Annotated[str, typer.Option("--dtypes", help="dtypes of the tensors, as a,b,c.")] = "float32,int64",
    first: Annotated[int, typer.Option(help="Another number searches elsewhere.")] = 0,
    save: Annotated[bool, typer.Option(help="Store the shrunk cases in the failure database.")] = False,
    cases_folder: CasesFolder = Path("tests/golden/cases"),
) -> None:
    """Look for failing cases for some minutes, a few of every operation in turn; print each made small.

    \b
    Example:
      weir-autotest search --minutes 20 --ops module --save
    """
    settings = tasks.Settings(subject, names(dtypes), names(ops), first=first)
    search_for(settings, minutes, cases_folder if save else None)


def search_for(settings: tasks.Settings, minutes: float, cases_folder: Path | None) -> None:
    """Searches, prints what failed made small, and files it if there is a folder for it."""
    with view.progress() as (_, on_visit), Lane(settings) as lane:
        found = searching.search(lane, settings, 60 * minutes, on_visit=on_visit)
    view.found(found, console())
    for shrunk in shrinking.shrink_all(settings, found.failing, 60 * minutes):
        show(shrunk, cases_folder)
