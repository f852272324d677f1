"""`autotest.toml`: what is read, what is refused, and what the settings do."""

import os
import subprocess
import sys

import pytest

from weir_autotest import config
from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings

#: PyTorch with a rough exponential and an error class of its own.
SUBJECT = '''
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_NoTorch"]
import torch as _torch
from torch import *
from torch import Tensor, autograd, no_grad, nn, special, linalg, fft
__version__ = "rough"

class ShapeError(Exception):
    pass

def exp(x, **keywords):
    return _torch.exp(x, **keywords) * 1.0005

def mm(a, b, **keywords):
    try:
        return _torch.mm(a, b, **keywords)
    except RuntimeError as error:
        raise ShapeError(str(error)) from None
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "roughtorch.py").write_text(SUBJECT)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def states(**settings):
    return {score.overload: score.states() for score in run(Settings("roughtorch", ("float32",), cases=40, **settings)).scores}


def test_without_a_file_nothing_is_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config.load() == config.Config({})


@pytest.mark.parametrize("text, said", [("colour = 1", "unknown key 'colour'"), ("ops = 3", "ops must be a list"), ("ops = [", "autotest.toml"),
                                        ("properties = ['speed']", "unknown properties speed"),
                                        ("[[tolerance]]\nops = ['exp']", "names its ops and a reason")])
def test_what_nobody_reads_is_refused(tmp_path, text, said):
    path = tmp_path / "autotest.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=said):
        config.load(path)


def test_a_tolerance_with_a_reason_excuses_and_is_counted(folder):
    assert states(ops=("exp",))["exp"]["value"] == "FAIL"
    agreed = config.Tolerance(("exp",), "a table", rtol=1e-3)
    assert states(ops=("exp",), tolerances=(agreed,))["exp"]["value"] == "EXCUSED"


def test_an_error_class_may_stand_for_pytorchs(folder):
    assert states(ops=("mm",))["mm"]["error"] == "FAIL"
    assert states(ops=("mm",), errors=(("ShapeError", "RuntimeError"),))["mm"]["error"] == "PASS"


def test_properties_that_are_not_asked_for_are_not_charged(folder):
    found = states(ops=("exp",), properties=("dtype", "shape"))["exp"]
    assert found["dtype"] == "PASS" and found["value"] == "UNTESTED"


def test_the_command_takes_its_defaults_from_the_file_and_leaves_operations_out(folder):
    (folder / "autotest.toml").write_text('subject = "roughtorch"\nops = ["exp", "mm"]\nleave_out = ["exp"]\ndtypes = ["float32"]\ncases = 5\n'
                                          '[errors]\nShapeError = "RuntimeError"\n')
    done = subprocess.run([sys.executable, "-m", "weir_autotest", "run", "--json", "run.json"], capture_output=True, text=True)
    assert done.returncode == 0 and  "0 overloads fail" in done.stdout, done.stdout + done.stderr
    for command in (["badge", "run.json", "--out", "badge.svg"], ["html", "run.json", "--out", "pages"]):
        done = subprocess.run([sys.executable, "-m", "weir_autotest", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "100.0% of 1 operations" in (folder / "badge.svg").read_text()
    assert "roughtorch" in (folder / "pages" / "generated.html").read_text()


def test_pytest_runs_operations_as_tests(folder):
    (folder / "autotest.toml").write_text('subject = "roughtorch"\nops = ["exp", "sum"]\ndtypes = ["float32"]\ncases = 10\n')
    command = [sys.executable, "-m", "pytest", "-p", "weir_autotest.pytest_plugin", "--weir-autotest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and "1 failed" in done.stdout and "weir-autotest shrink exp" in done.stdout, done.stdout + done.stderr
    done = subprocess.run([*command, "-k", "sum"], capture_output=True, text=True)
    assert done.returncode == 0 and "passed" in done.stdout, done.stdout + done.stderr
