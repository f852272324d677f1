"""Other subjects: NumPy, JAX and MLX behind their adapters, the template of a new one, and the harness as a package of its own."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings
from weir_autotest.subjects import numpy_arrays

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scores():
    ops = ("exp", "sum", "permute", "flip", "acos", "relu", "mm")
    finished = run(Settings("weir_autotest.subjects.numpy_arrays", ("float32", "int64"), ops, cases=30))
    return {(score.overload, score.dtype): score.states() for score in finished.scores}


def test_numpy_is_right_where_it_agrees(scores):
    assert scores["exp", "float32"]["value"] == "PASS"
    assert scores["permute", "float32"]["alias"] == "PASS"


def test_numpy_is_caught_where_it_differs(scores):
    assert scores["acos", "int64"]["dtype"] == "FAIL"  # float64, where PyTorch gives float32
    assert scores["flip", "float32"]["alias"] == "FAIL"  # a view, where PyTorch copies


def test_what_numpy_lacks_is_unsupported(scores):
    assert set(scores["relu", "float32"].values()) <= {"UNSUPPORTED", "UNTESTED", "PASS"}
    assert scores["relu", "float32"]["value"] == "UNSUPPORTED"
    for name in ("gradient", "requires_grad", "version", "autocast"):
        assert scores["exp", "float32"][name] == "UNSUPPORTED"


@pytest.mark.parametrize("adapter", ["numpy_arrays.py", "jax_arrays.py", "mlx_arrays.py"])
def test_the_adapters_stay_short(adapter):
    assert len(Path(numpy_arrays.__file__).with_name(adapter).read_text().splitlines()) < 100


@pytest.mark.parametrize("library, adapter", [("jax", "jax_arrays"), ("mlx.core", "mlx_arrays")])
def test_what_differentiates_functions_is_right_and_lacks_what_it_lacks(library, adapter):
    pytest.importorskip(library)
    finished = run(Settings(f"weir_autotest.subjects.{adapter}", ("float32",), ("exp", "sum", "permute"), cases=10))
    states = {score.overload: score.states() for score in finished.scores}
    assert states["exp"]["value"] == "PASS" and states["exp"]["gradient"] == "PASS"
    assert states["exp"]["gradgrad"] == "UNSUPPORTED" and states["exp"]["stride"] == "UNSUPPORTED"
    assert states["permute"]["alias"] == "FAIL"  # a copy, where PyTorch gives a view


def test_a_new_subject_runs_and_nothing_fails(command):
    assert "numpy_subject.py" in command("new-subject", "numpy").stdout
    assert command("new-subject", "numpy").returncode == 1  # it is there already
    assert command("new-subject", "no name").returncode == 1
    done = command("run", "--subject", "numpy_subject", "--ops", "add,relu", "--cases", "5")
    assert done.returncode == 0 and "0 overloads fail somewhere" in done.stdout


def test_the_harness_installs_without_the_framework(tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w", tmp_path,
                    ROOT / "autotest"], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("weir_autotest-*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    assert {path.name for path in (tmp_path / "site").iterdir()} == {"weir_autotest", "weir_reports", wheel.stem.split("-py3")[0] + ".dist-info"}
    done = subprocess.run([sys.executable, "-m", "weir_autotest", "run", "--subject", "torch", "--ops", "add", "--cases", "3"],
                          env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin"}, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "0 overloads fail somewhere" in done.stdout


def test_results_of_a_dtype_that_numpy_lacks_are_compared():
    finished = run(Settings("weir", ("float16",), ("complex",), cases=10))
    states = finished.scores[0].states()
    assert states["value"] == states["dtype"] == "PASS"  # complex32
