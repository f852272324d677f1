"""Gives the tests the tools by their installed names, and the fake framework of this folder to the workers."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = HERE.parents[1] / "build" / "release" / "python"
sys.path[:0] = [str(PACKAGES)]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGES), str(HERE), os.environ.get("PYTHONPATH")]))
