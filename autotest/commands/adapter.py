"""The command `new-subject`."""

from pathlib import Path
from typing import Annotated

import typer

from ..campaign.tasks import UsageError


app = typer.Typer()


@app.command(name="new-subject")
def new_subject(
    library: Annotated[str, typer.Argument(help="The package to test, as it is imported.")],
    folder: Annotated[Path, typer.Option(help="Where the adapter is written.")] = Path("."),
) -> None:
    """Write an adapter that puts a package under PyTorch's names, to be filled in.

    A package that has PyTorch's names itself needs none: `weir-autotest run --subject PACKAGE`.

    \b
    Example:
      weir-autotest new-subject mylib
    """
    if not all(part.isidentifier() for part in library.split(".")):
        raise UsageError(f"{library!r} is not the name of a package")
    module = library.replace(".", "_") + "_subject"
    path = folder / f"{module}.py"
    if path.exists():
        raise UsageError(f"{path} exists already")
    text = (Path(__file__).parents[1] / "subjects" / "template.py.txt").read_text()
    path.write_text(text.replace("{library}", library).replace("{module}", module))
    typer.echo(f"{path}\nnext: fill in Tensor and from_numpy, then\n"
               f"  PYTHONPATH={folder} weir-autotest run --subject {module} --ops add,sum --verbose")
