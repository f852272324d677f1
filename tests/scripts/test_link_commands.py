"""The packages and commands that set-up puts into an environment."""

import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from link_commands import link  # noqa: E402


def environment(folder: Path) -> Path:
    """Makes the folders of a virtual environment that uses this Python."""
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to(sys.executable)
    Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})).mkdir(parents=True)
    return folder


def test_every_command_of_pyproject_gets_a_launcher(tmp_path):
    written = link(environment(tmp_path), tmp_path)
    assert {"weir.pth", "weir-autotest", "weir-bench", "weir-dlperf", "weir-report"} <= set(written)


def test_a_second_time_writes_nothing(tmp_path):
    link(environment(tmp_path), tmp_path)
    assert link(tmp_path, tmp_path) == []


def test_a_launcher_runs_and_returns_the_commands_code(tmp_path):
    environment(tmp_path)
    packages = tmp_path / "packages"
    (packages / "weir_bench").mkdir(parents=True)
    (packages / "weir_bench" / "__init__.py").touch()
    (packages / "weir_bench" / "cli.py").write_text("def main():\n    return 3\n")
    link(tmp_path, packages)
    done = subprocess.run([tmp_path / "bin" / "weir-bench"], env={"PYTHONPATH": str(packages)})
    assert done.returncode == 3
