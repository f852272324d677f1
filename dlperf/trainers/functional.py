"""What the adapters of functional frameworks share: weights by name, batches of arrays, a step that is one program."""

import itertools
import math
import time
from pathlib import Path

import numpy as np

from .. import data
from ..models import MODELS
from ..weights import BUFFERS, read_initial
from . import finite

BN_MOMENTUM, BN_EPS, LN_EPS = 0.1, 1e-5, 1e-12  # as in the models' text for PyTorch's API


class FunctionalTrainer:
    """Trains `functional_loss` of a spec's model. A framework's trainer offers `place`, `ready` and `update`."""

    version = None

    def __init__(self, spec: dict):
        self.spec, self.module = spec, MODELS[spec["model"]]
        config = self.module.PRESETS[spec["preset"]]
        self.config = config.without_dropout() if spec["gate"] else config
        stored, self.weights_sha = read_initial(Path(spec["weights"]))
        trained = {n: a for n, a in stored.items() if not n.endswith(BUFFERS)}
        self.params = sum(a.size for a in trained.values())
        if config.params not in (None, self.params):
            raise ValueError(f"expected {config.params} parameters, got {self.params}")
        stats = {n: a for n, a in stored.items() if n.endswith(BUFFERS[:2])}
        self.settings = self.module.settings(self.config, spec["batch_size"])
        self.place({n: channels_last(a, kernel=True) for n, a in trained.items()}, stats)
        source, self.data_sha = data.arrays(spec, self.module, self.config)
        self.batches = map(self._ready, source) if spec["data"] == "real" else itertools.cycle(list(map(self._ready, source)))

    def _ready(self, batch: dict) -> dict:
        return {name: self.ready(channels_last(np.asarray(a))) for name, a in batch.items()}

    def place(self, trained: dict, stats: dict) -> None:
        """Takes the starting arrays, those that are trained and batch norm's running ones."""
        raise NotImplementedError

    def ready(self, array):
        """Returns an array of a batch as the framework wants it."""
        raise NotImplementedError

    def update(self, batch: dict) -> tuple:
        """Trains on a batch; returns the loss as a number, and the gradients as arrays if the gate asks for them."""
        raise NotImplementedError

    def step(self) -> dict:
        """Trains on one batch; forward, backward and update are one phase, under the name of the first."""
        marks = [time.monotonic_ns()]
        batch = next(self.batches)
        marks.append(time.monotonic_ns())
        loss, gradients = self.update(batch)
        marks.append(time.monotonic_ns())
        norm = None
        if self.spec["gate"]:
            norm = math.sqrt(sum(float(np.square(np.asarray(g, np.float64)).sum()) for g in gradients))
        return {"loss": finite(loss), "grad_norm": finite(norm), "step_ns": marks[2] - marks[0],
                "data": marks[1] - marks[0], "fwd": marks[2] - marks[1], "bwd": 0, "opt": 0}


def channels_last(array, kernel: bool = False):
    """Returns four axes in the order that JAX and TensorFlow prefer: (N, H, W, C), and kernels (H, W, in, out)."""
    if array.ndim != 4:
        return array
    return np.ascontiguousarray(array.transpose((2, 3, 1, 0) if kernel else (0, 2, 3, 1)))
