"""Gives the tests the tools by their installed names."""

import os
import sys
from pathlib import Path

import pytest

PACKAGES = Path(__file__).resolve().parents[2] / "build" / "release" / "python"
sys.path[:0] = [str(PACKAGES)]
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGES), os.environ.get("PYTHONPATH")]))


@pytest.fixture
def spec(tmp_path):
    """Makes the spec of a tiny run in this process, as the runner writes it for a worker."""

    def make(model="resnet50", **changes):
        return {"module": "torch", "label": "torch-eager", "channels_last": False, "compile": False, "graph": False, "model": model,
                "preset": "tiny", "precision": "fp32", "batch_size": 4, "data": "synthetic", "seed": 1,
                "gate": True, "warmup": 0, "steps": 3, "threads": 1, "weights": str(tmp_path / f"{model}.npz"),
                **changes}

    return make
