"""Which CPU kernels are loaded, and what is said where there are none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import _weir
import weir

BUILT = Path(_weir.__file__)
LIBRARIES = BUILT.parent / "weir_lib"
OWN = weir._C.cpu_capability


@pytest.fixture
def packages(tmp_path):
    """The packages, to be changed: copies of the libraries, whose places say where their neighbours are looked for."""
    shutil.copy(BUILT, tmp_path)
    shutil.copytree(LIBRARIES, tmp_path / "weir_lib")
    (tmp_path / "weir").symlink_to(Path(weir.__file__).parent)
    return tmp_path


def loaded(packages, **settings):
    environment = {k: v for k, v in os.environ.items() if k != "WEIR_CPU_CAPABILITY"}
    done = subprocess.run([sys.executable, "-c", "import weir; print(weir._C.cpu_capability, (weir.ones(3) + 1).tolist())"], capture_output=True, text=True,
                          env={**environment, "PYTHONPATH": str(packages), **settings})
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_the_widest_kernels_that_are_there_are_loaded(packages):
    sets = ["baseline", "avx2", "avx512"]
    for name in sets:
        library = packages / f"weir_lib/libweir_cpu_{name}.so"
        if sets.index(name) < sets.index(OWN):
            library.write_bytes(b"")  # opening it would fail
        elif name != OWN:
            library.unlink(missing_ok=True)
    assert loaded(packages) == f"{OWN} [2.0, 2.0, 2.0]"


def test_kernels_that_are_not_built_are_asked_of_setup_by_name(packages):
    for library in (packages / "weir_lib").glob("libweir_cpu_*.so"):
        library.unlink()
    assert loaded(packages) == f"ImportError: no CPU kernels for this machine lie in {packages}/weir_lib; ./scripts/setup builds them"
    assert loaded(packages, WEIR_CPU_CAPABILITY="baseline") == \
        "ImportError: WEIR_CPU_CAPABILITY=baseline: these kernels are not built; ./scripts/setup with this variable builds them"


def test_a_set_that_no_machine_has_is_refused(packages):
    assert loaded(packages, WEIR_CPU_CAPABILITY="avx3") == \
        "ImportError: WEIR_CPU_CAPABILITY=avx3: expected baseline, avx2 or avx512, and a machine that has it"


def test_a_variable_set_to_nothing_asks_for_no_set(packages):
    assert loaded(packages, WEIR_CPU_CAPABILITY="") == loaded(packages)
