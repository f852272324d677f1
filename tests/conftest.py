"""Gives the tests, and the processes they start, `weir` and its tools: of the environment, else of the release build."""

import importlib.util
import os
import sys
from pathlib import Path

if importlib.util.find_spec("_weir") is None:
    packages = str(Path(__file__).resolve().parents[1] / "build" / "release" / "python")
    sys.path.insert(0, packages)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [packages, os.environ.get("PYTHONPATH")]))
