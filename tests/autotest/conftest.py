"""A run of the op database against the fake subject, shared by the tests that read it."""

import os
import shutil
from pathlib import Path

import pytest

from weir_autotest.opdb.run import Settings, run

FAKE_OPS = ("neg", "exp", "sin", "cos", "abs", "tanh", "log", "square", "t", "sqrt", "expand_as", "trace", "reciprocal")


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
