"""Puts the built packages and the commands of pyproject.toml into a virtual environment.

    python scripts/link_commands.py VENV PACKAGES

A `.pth` file makes `import weir` and the tools work from the build tree; one small launcher per command goes into
the environment's bin. Nothing is copied, so a rebuild needs no second installation.
"""

import sys
import sysconfig
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
LAUNCHER = """#!{python}
import sys

from {module} import {function}

sys.exit({function}())
"""


def link(venv: Path, packages: Path) -> list[str]:
    """Writes what differs and returns the names of the files written."""
    site = Path(sysconfig.get_path("purelib", vars={"base": str(venv), "platbase": str(venv)}))
    wanted = {site / "weir.pth": f"{packages}\n"}
    for command, target in tomllib.loads(PYPROJECT.read_text())["project"]["scripts"].items():
        module, function = target.split(":")
        text = LAUNCHER.format(python=venv / "bin" / "python", module=module, function=function)
        wanted[venv / "bin" / command] = text
    return [path.name for path, text in wanted.items() if _write(path, text)]


def _write(path: Path, text: str) -> bool:
    if path.exists() and path.read_text() == text:
        return False
    path.write_text(text)
    if path.suffix != ".pth":
        path.chmod(0o755)
    return True


if __name__ == "__main__":
    if written := link(Path(sys.argv[1]).absolute(), Path(sys.argv[2]).absolute()):
        print("linked " + ", ".join(written))
