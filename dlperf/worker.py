"""One training run in a fresh process: `python -m weir_dlperf.worker spec.json result.json`."""

import contextlib
import importlib
import itertools
import json
import math
import os
import re
import resource
import sys
import time
from pathlib import Path

import numpy as np

from . import data
from .models import MODELS
from .weights import load_initial


class Trainer:
    """Builds the model of a spec in its framework and trains it step by step."""

    def __init__(self, spec: dict):
        self.spec = spec
        self.torch = importlib.import_module(spec["module"])
        self.torch.set_num_threads(spec["threads"])
        self.module = MODELS[spec["model"]]
        config = self.module.PRESETS[spec["preset"]]
        self.config = config.without_dropout() if spec["gate"] else config
        self.memory_format = None
        if spec["channels_last"] and config.layout_matters:
            self.memory_format = self.torch.channels_last
        self.model = self._model()
        self.optimizer = self.module.optimizer(self.torch, self.model, self.config, spec["batch_size"])
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
        self.weights_sha = load_initial(self.torch, self.module, model, Path(self.spec["weights"]), self.spec["seed"])
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
        return {"loss": _finite(value), "grad_norm": _finite(norm), "step_ns": marks[-1] - marks[0], **phases}

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
        return {"loss": _finite(value), "grad_norm": _finite(norm), "step_ns": marks[-1] - marks[0], **phases}

    def gradient_norm(self) -> float:
        """Returns the 2-norm of all gradients together, summed in float64."""
        return math.sqrt(sum(float(np.square(p.grad.detach().numpy().astype(np.float64)).sum())
                             for p in self.model.parameters()))

    def _precision(self):
        if self.spec["precision"] == "fp32":
            return contextlib.nullcontext()
        return self.torch.autocast("cpu", dtype=self.torch.bfloat16)


def train(spec: dict) -> dict:
    """Runs a spec and returns traces, step times and resources."""
    trainer = Trainer(spec)
    for _ in range(spec["warmup"]):
        trainer.step()
    before = resource.getrusage(resource.RUSAGE_SELF)
    cpu = time.process_time_ns()
    steps = [trainer.step() for _ in range(spec["steps"])]
    cpu = time.process_time_ns() - cpu
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before.ru_nivcsw
    phases = {name: [s[name] for s in steps] for name in ("data", "fwd", "bwd", "opt")}
    return {"version": str(getattr(trainer.torch, "__version__", None)), "params": trainer.params,
            "weights_sha": trainer.weights_sha, "data_sha": trainer.data_sha,
            "loss": [s["loss"] for s in steps], "grad_norm": [s["grad_norm"] for s in steps],
            "step_ns": [s["step_ns"] for s in steps], "phases_ns": phases, "rss_peak": peak_memory(), "cpu_ns": cpu,
            "nivcsw": switches}


def peak_memory() -> int | None:
    """Returns the largest resident size this process has had, in bytes (VmHWM); None where the system hides it."""
    try:
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    except (OSError, TypeError):
        return None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def main() -> None:
    """Pins the process before any library starts its threads, trains, and writes the result."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    os.sched_setaffinity(0, spec["affinity"])
    try:
        result = train(spec)
    except MemoryError as error:
        result = {"failed": "oom", "reason": str(error)[:300]}
    except Exception as error:  # whatever a framework raises is a result about it
        oom = "out of memory" in str(error).lower() or "can't allocate" in str(error).lower()
        result = {"failed": "oom" if oom else "fail", "reason": f"{type(error).__name__}: {error}"[:300]}
    Path(sys.argv[2]).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
