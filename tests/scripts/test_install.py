"""What `pip install .` brings: CMake's install rules and pyproject's dependencies, checked without building a wheel."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

try:
    import tomllib
except ImportError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PACKAGES = {"weir": "framework/weir", "weir_autotest": "autotest", "weir_bench": "bench", "weir_dlperf": "dlperf",
            "weir_reports": "reports"}
NOT_INSTALLED = {"bench/CMakeLists.txt", "bench/gbench", "autotest/pyproject.toml"}  # C++ benchmarks; the harness alone
MODULE_OF = {"pillow": "PIL", "array-api-compat": "array_api_compat", "tensorflow-cpu": "tensorflow", "mlperf-logging": "mlperf_logging", "pyyaml": "yaml"}
# Imported only when a worker process or `io_safetensors` needs them.
HARNESS = tomllib.loads((ROOT / "autotest" / "pyproject.toml").read_text())["project"]
OPTIONAL = {MODULE_OF.get(name := re.match(r"[\w-]+", line)[0], name) for project in (PROJECT, HARNESS)
            for extra in project["optional-dependencies"].values() for line in extra}


def tracked(folder: str) -> set[str]:
    """Files that git keeps under `folder`, relative to it, without those that are not installed."""
    listed = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return {str(Path(line).relative_to(folder)) for line in listed.stdout.splitlines()
            if not any(line == skipped or line.startswith(skipped + "/") for skipped in NOT_INSTALLED)}


@pytest.fixture(scope="module")
def site_packages(tmp_path_factory):
    """A folder with the Python packages as a wheel has them."""
    import _weir
    build, target = Path(_weir.__file__).parents[1], tmp_path_factory.mktemp("site-packages")
    if not (build / "cmake_install.cmake").exists():
        pytest.skip("weir does not come from a build tree")
    subprocess.run(["cmake", "--install", build, "--component", "packages", "--prefix", target], check=True,
                   capture_output=True)
    return target


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_installed(site_packages, package):
    installed = {str(path.relative_to(site_packages / package))
                 for path in (site_packages / package).rglob("*") if path.is_file()}
    assert tracked(PACKAGES[package]) - installed == set()
    assert not [name for name in installed if "__pycache__" in name or "gbench" in name]


def imported(folder: str) -> set[str]:
    """Top-level modules that the Python files of `folder` import."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module.split(".")[0])
    return names


def test_every_import_is_a_dependency():
    declared = {MODULE_OF.get(name := re.match(r"[\w-]+", line)[0].lower(), name) for line in PROJECT["dependencies"]} | OPTIONAL
    own = {*PACKAGES, "_weir"} | set(sys.stdlib_module_names)
    for folder in PACKAGES.values():
        assert imported(folder) - declared - own == set(), folder


def test_the_harness_alone_declares_what_it_imports():
    declared = {re.match(r"[\w-]+", line)[0] for line in HARNESS["dependencies"]} | OPTIONAL
    assert imported("autotest") - declared - {"weir_reports"} - set(sys.stdlib_module_names) == set()
