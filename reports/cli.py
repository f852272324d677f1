"""The command `weir-report`: add records to a store, list them, build the site."""

import json
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console
from rich.table import Table

from .console import run_app
from .records import RecordError, save
from .site import build as build_site
from .store import DEFAULT_STORE, Store

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", help=(
    "Keeps measurement records and renders the report site from them.\n\n"
    "Examples:\n\n"
    "- `weir-report add run.json` appends a record to the store\n"
    "- `weir-report list` shows what the store holds\n"
    "- `weir-report build` renders the site to `reports/out/index.html`\n"))
StoreOption = Annotated[Optional[str], typer.Option(
    help=f"Path of a SQLite file or a database URL such as postgresql+psycopg://user@host/weir. "
         f"[default: {DEFAULT_STORE}]", show_default=False)]


@app.command()
def add(files: Annotated[list[Path], typer.Argument(help="Record files (JSON).", exists=True, dir_okay=False)],
        store: StoreOption = None) -> None:
    """Checks record files against their schemas and appends them to the store."""
    for path in files:
        try:
            print(f"{save(json.loads(path.read_text()), store)[:12]}  {path}")
        except (RecordError, json.JSONDecodeError) as error:
            raise typer.BadParameter(f"{path}: {error}") from error


@app.command("list")
def list_records(store: StoreOption = None) -> None:
    """Lists the records of the store, oldest first."""
    table = Table("record", "kind", "started", "subject")
    for record in Store(store).records():
        who = record.get("framework") or record.get("subject")
        table.add_row(record["run_id"][:12], record["schema"], record["started"][:19],
                      f"{who.get('label', who['name'])} {who['version'] or ''}")
    Console().print(table)


@app.command()
def build(store: StoreOption = None,
          out: Annotated[Path, typer.Option(help="Folder of the site.")] = Path("reports/out"),
          failed: Annotated[Optional[list[str]], typer.Option(help="What did not run to its end; the first page begins with it.")] = None,
          as_json: Annotated[bool, typer.Option("--json", help="Print the claims and figures as JSON.")] = False
          ) -> None:
    """Renders the static site; it needs no server and no network."""
    summary = build_site(Store(store).records(), out, failed or [])
    if as_json:
        print(json.dumps(summary, indent=1, ensure_ascii=False))
    else:
        tally = ", ".join(f"{count} {state}" for state, count in summary["tally"].items())
        print(f"{out / 'index.html'}  claims: {tally}")


def main() -> None:
    """Runs the command line. Exit codes: 0 done, 1 usage or a bad record."""
    run_app(app)
