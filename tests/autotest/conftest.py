"""The command line in this process, and a run of the op database against the fake subject, shared by the tests that read it."""

import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from weir_autotest import cli
from weir_autotest.opdb.run import Settings, run

FAKE_OPS = ("neg", "exp", "sin", "cos", "abs", "tanh", "log", "square", "t", "sqrt", "expand_as", "trace", "reciprocal")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """`weir-autotest` in a folder of its own: as from a shell, without a process for each call."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["weir-autotest", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return SimpleNamespace(returncode=ended.value.code, stdout=printed.out, stderr=printed.err)

    return call


@pytest.fixture(scope="session")
def fake_path(tmp_path_factory):
    """A folder from which `fakeweir` can be imported."""
    folder = tmp_path_factory.mktemp("subject")
    shutil.copy(Path(__file__).parent / "fake_subject.py", folder / "fakeweir.py")
    return folder


@pytest.fixture(scope="session")
def fake_run(fake_path):
    """The result of a run against the fake subject."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{fake_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        return run(Settings("fakeweir", ops=FAKE_OPS, max_samples=4, timeout=3))


@pytest.fixture(scope="session")
def fake_cells(fake_run):
    return {cell.name: cell for cell in fake_run.cells}
