"""No Python source uses a name that does not exist; what else counts as wrong stands in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_ruff_finds_nothing():
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format", "concise",
                           *(ROOT / folder for folder in ("autotest", "bench", "dlperf", "framework", "reports", "scripts", "tests"))],
                          cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
