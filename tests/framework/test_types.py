"""Type checkers see Tensor as it is: its attributes and methods have types, and a misspelt one is an error."""

import os
import subprocess
import sys
from pathlib import Path

import weir

PROGRAM = """
import weir
x = weir.ones(2, 3)
y = (x + 1).float()
rank: int = y.dim()
shape: tuple[int, ...] = x.shape
total: weir.Tensor = weir.add(x, y).sum(dim=0)
maybe: weir.Tensor | None = x.grad
x.sigmod()
x.numel().upper()
"""


def test_a_checker_finds_what_is_misspelt_and_nothing_else(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    # Where pip installs the package, a checker finds it by its py.typed; here its folder is named.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "weir").symlink_to(Path(weir.__file__).resolve().parent)
    found = subprocess.run([sys.executable, "-m", "mypy", "--follow-imports=silent", f"--cache-dir={tmp_path / 'cache'}", "program.py"],
                           cwd=tmp_path, env={**os.environ, "MYPYPATH": "site"}, capture_output=True, text=True)
    lines = [line for line in found.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in lines] == ["9", "10"], found.stdout + found.stderr
    assert '"Tensor" has no attribute "sigmod"' in lines[0]


def test_the_package_says_that_it_has_types():
    assert (Path(weir.__file__).parent / "py.typed").exists()
