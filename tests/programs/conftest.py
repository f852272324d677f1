"""Gives the tests `weir` (of the environment, else of the release build)."""

import importlib.util
import sys
from pathlib import Path


if importlib.util.find_spec("_weir") is None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build" / "release" / "python"))
