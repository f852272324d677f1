"""Commands on records that were made before: join the parts of a run, draw a badge, write pages."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from weir_reports import site

from .. import badge as badges
from .. import view
from ..campaign.tasks import UsageError
from ..record import CAMPAIGN_SCHEMA, SCHEMA, merged

app = typer.Typer()


@app.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(help="Records of all parts of one run.")],
    json_file: Annotated[Path, typer.Option("--json", help="Write the merged record here.")],
) -> None:
    """Merge the records of a run that machines shared (`run --shard`) into one.

    \b
    Example:
      weir-autotest merge part-*.json --json run.json
    """
    try:
        made = merged([load_record(path, CAMPAIGN_SCHEMA) for path in parts])
    except ValueError as error:
        raise UsageError(str(error)) from None
    view.campaign_summary(made, console())
    write(json_file, made)


@app.command()
def badge(
    record_file: Annotated[Path, typer.Argument(help="A record of `run --json`.")],
    out: Annotated[Path, typer.Option(help="The SVG file.")] = Path("conformance.svg"),
    label: Annotated[str, typer.Option(help="What stands on the left.")] = "as PyTorch",
) -> None:
    """Draw a badge: the share of reached operations that are nowhere wrong.

    \b
    Example:
      weir-autotest badge run.json --out docs/conformance.svg
    """
    out.write_text(badges.svg(load_record(record_file, CAMPAIGN_SCHEMA), label))
    typer.echo(str(out))


@app.command()
def html(
    records: Annotated[list[Path], typer.Argument(help="Records of `run --json` or `accept --json`, the oldest first.")],
    out: Annotated[Path, typer.Option(help="Folder of the pages.")] = Path("conformance"),
) -> None:
    """Write the report pages of some records, without a store: scores, failures with their scripts, the trend.

    \b
    Example:
      weir-autotest run --scripts --json run.json; weir-autotest html run.json --out public
    """
    site.build([load_record(path, SCHEMA, CAMPAIGN_SCHEMA) for path in records], out)
    typer.echo(str(out / "index.html"))


def read(load, path: Path):
    """`load(path)`; what it raises about the file becomes a UsageError that names it."""
    try:
        return load(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from None


def load_record(path: Path, *schemas: str) -> dict:
    """The record at `path`. Raises UsageError unless it is of one of `schemas`."""
    loaded = read(lambda file: json.loads(file.read_text()), path)
    if not isinstance(loaded, dict) or loaded.get("schema") not in schemas:
        raise UsageError(f"{path} is not a record of schema {' or '.join(schemas)}")
    return loaded


def write(path: Path | None, content: dict) -> None:
    """Writes `content` as JSON where a path was given."""
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n")


def console() -> Console:
    """Where results are printed: piped output keeps its long lines whole, a terminal wraps them."""
    return Console() if sys.stdout.isatty() else Console(width=240)
