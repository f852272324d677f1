"""Gives the tests `_weir` and `weir`: those of the environment (scripts/run), else of the release build."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("_weir") is None:
    sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "build" / "release" / "python")]
