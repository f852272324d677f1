"""How the commands of the measuring works end: one set of exit codes for all of them."""

import sys

OK, USAGE, GATE_FAILED, INCONCLUSIVE, NOTHING_MEASURED = range(5)


def run_app(app) -> None:
    """Runs a typer app and exits with the code that its command returns; a usage error exits with `USAGE`."""
    try:
        code = app(standalone_mode=False)
    except Exception as error:  # typer's base class of usage errors moved between its releases
        if not hasattr(error, "format_message"):
            raise
        show = getattr(error, "show", None)
        show() if show else print(error, file=sys.stderr)
        sys.exit(USAGE)
    sys.exit(code or OK)
