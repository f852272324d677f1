"""Frameworks with PyTorch's API: PyTorch and weir."""

import contextlib
import importlib
import itertools
import math
import time
from pathlib import Path

import numpy as np

from .. import data
from ..models import MODELS
from ..weights import load_initial
from . import finite


class Trainer:
    """Builds the model of a spec in its framework and trains it step by step."""

    def __init__(self, spec: dict):
        self.spec = spec
        self.torch = importlib.import_module(spec["module"])
        self.version = getattr(self.torch, "__version__", None)
        self.torch.set_num_threads(spec["threads"])
        self.module = MODELS[spec["model"]]
        config = self.module.PRESETS[spec["preset"]]
        self.config = config.without_dropout() if spec["gate"] else config
        self.memory_format = None
        if spec["channels_last"] and config.layout_matters:
            self.memory_format = self.torch.channels_last
        self.model = self._model()
        self.optimizer = getattr(self.torch.optim, self.module.OPTIMIZER)(
            self.model.parameters(), **self.module.settings(self.config, spec["batch_size"]))
        self.call = self.torch.compile(self.model) if spec["compile"] else self.model
        self.graph = self._as_graph() if spec["graph"] else None
        source, self.data_sha = data.source(self.torch, spec, self.module, self.config)
        self.batches = source if spec["data"] == "real" else itertools.cycle([self._ready(b) for b in source])

    def _model(self):
        if hasattr(self.torch, "manual_seed"):
            self.torch.manual_seed(self.spec["seed"])
        model = self.module.build(self.torch, self.config)
        self.params = sum(p.numel() for p in model.parameters())
        if self.config.params not in (None, self.params):
            raise ValueError(f"expected {self.config.params} parameters, got {self.params}")
        self.weights_sha = load_initial(self.torch, self.module, model, Path(self.spec["weights"]), self.spec["seed"],
                                        self.spec.get("nudge"))
        model.train()
        return model.to(memory_format=self.memory_format) if self.memory_format is not None else model

    def _ready(self, batch: dict) -> dict:
        """Puts pictures into the layout of the run; other tensors stay as they are."""
        if self.memory_format is None or "image" not in batch:
            return batch
        return {**batch, "image": batch["image"].contiguous(memory_format=self.memory_format)}

    def step(self) -> dict:
        """Trains on one batch; returns its loss and the nanoseconds of each phase."""
        if self.graph is not None:
            return self._graph_step()
        marks = [time.monotonic_ns()]
        batch = self._ready(next(self.batches))
        marks.append(time.monotonic_ns())
        self.optimizer.zero_grad()
        with self._precision():
            loss = self.module.loss(self.torch, self.call, batch)
        marks.append(time.monotonic_ns())
        loss.backward()
        marks.append(time.monotonic_ns())
        norm = self.gradient_norm() if self.spec["gate"] else None
        self.optimizer.step()
        value = loss.item()
        marks.append(time.monotonic_ns())
        phases = dict(zip(("data", "fwd", "bwd", "opt"), np.diff(marks).tolist()))
        return {"loss": finite(value), "grad_norm": finite(norm), "step_ns": marks[-1] - marks[0], **phases}

    def _as_graph(self):
        """A step as one program: the loss, and for the gate the 2-norm of all gradients, from a batch."""
        trainer = self

        class Step(self.torch.nn.Graph):
            def __init__(self):
                super().__init__()
                self.model = trainer.model
                self.add_optimizer(trainer.optimizer)

            def build(self, batch):
                with trainer._precision():
                    loss = trainer.module.loss(trainer.torch, self.model, batch)
                loss.backward()
                if not trainer.spec["gate"]:
                    return loss, None
                squares = [p.grad.double().square().sum() for p in trainer.model.parameters()]
                return loss, trainer.torch.stack(squares).sum().sqrt()

        return Step()

    def _graph_step(self) -> dict:
        """As step; forward, backward and update are one phase, under the name of the first."""
        marks = [time.monotonic_ns()]
        batch = self._ready(next(self.batches))
        marks.append(time.monotonic_ns())
        loss, norm = self.graph(batch)
        value = loss.item()
        marks.append(time.monotonic_ns())
        phases = {"data": marks[1] - marks[0], "fwd": marks[2] - marks[1], "bwd": 0, "opt": 0}
        norm = None if norm is None else norm.item()
        return {"loss": finite(value), "grad_norm": finite(norm), "step_ns": marks[-1] - marks[0], **phases}

    def gradient_norm(self) -> float:
        """Returns the 2-norm of all gradients together, summed in float64."""
        return math.sqrt(sum(float(np.square(p.grad.detach().numpy().astype(np.float64)).sum())
                             for p in self.model.parameters()))

    def _precision(self):
        if self.spec["precision"] == "fp32":
            return contextlib.nullcontext()
        return self.torch.autocast("cpu", dtype=self.torch.bfloat16)
