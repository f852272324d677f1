"""The command `weir-autotest`."""

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from .campaign.tasks import UsageError
from .commands import adapter, ask, gate, look, records, trust
from .commands.common import COMPLETED, USAGE, configure
from .config import NAME, defaults, load

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
for part in (ask, look, gate, records, trust, adapter):
    app.add_typer(part.app)


@app.callback()
def configured(
    context: typer.Context,
    config: Annotated[Optional[Path], typer.Option(help=f"The project's settings. [default: {NAME} where it exists]", show_default=False)] = None,
) -> None:
    """Checks a framework with PyTorch's API against PyTorch: its own databases, and calls generated from its signatures.

    Exit codes: 0 completed, 1 cannot run as asked, 2 a cell fell below the baseline.
    """
    if config is None and not Path(NAME).exists():
        return
    found = records.read(load, config or Path(NAME))
    configure(found)
    context.default_map = defaults(found)


def main() -> None:
    """The entry point. Usage errors exit with 1, since 2 means that a cell fell."""
    try:
        code = app(standalone_mode=False)
    except UsageError as error:
        typer.echo(f"weir-autotest: {error}", err=True)
        code = USAGE
    except typer.BadParameter.__base__.__base__ as error:  # ClickException, which typer does not export
        error.show()
        code = USAGE
    sys.exit(code or COMPLETED)
