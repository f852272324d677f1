"""Gives the workers the fake framework of this folder."""

import os
from pathlib import Path

os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(Path(__file__).resolve().parent)]))
