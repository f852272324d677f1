"""The plan: everything that will be run, fixed and named by its hash before there is a result."""

import random
from dataclasses import asdict, dataclass

from weir_reports.hashing import digest

from .frameworks import FRAMEWORKS, competes
from .models import MODELS

BATCH = {"resnet50": 16, "bert": 8}
TINY_BATCH = 4


@dataclass(frozen=True)
class Plan:
    """The budget and the matrix. `steps` are timed after `warmup`; the gate compares the first `gate_steps`."""

    models: tuple = ("resnet50", "bert")
    precisions: tuple = ("fp32", "bf16")
    frameworks: tuple = ("weir", "weir-graph", "torch-eager", "torch-channels_last", "torch-compile", "jax",
                         "tensorflow")
    threads: int = 2
    blocks: int = 3
    steps: int = 10
    warmup: int = 3
    gate_steps: int = 20
    preset: str = "full"
    data: str = "synthetic"
    seed: int = 1
    batch_sizes: tuple = ()  # of every model; empty: one of its own

    @property
    def plan_id(self) -> str:
        """Returns the SHA-256 of the plan and of the order that follows from it."""
        return digest({**asdict(self), "order": [[b, w, f] for b, w, f in self.order()]})

    def workloads(self) -> list[tuple[str, str, int]]:
        """Returns every (model, precision, samples per step)."""
        return [(model, precision, size) for model in self.models for precision in self.precisions
                for size in self.batch_sizes or (TINY_BATCH if self.preset == "tiny" else BATCH[model],)]

    def competitors(self, model: str) -> list[str]:
        """Returns the labels that run `model`."""
        matters = MODELS[model].PRESETS[self.preset].layout_matters
        return [label for label in self.frameworks if competes(FRAMEWORKS[label], matters)]

    def order(self) -> list[tuple[int, tuple, str]]:
        """Returns (block, workload, label) in the order of running: each block runs everything once, shuffled.

        A workload's frameworks stay together inside a block, so that their comparison spans minutes, not the block.
        """
        rng, result = random.Random(self.seed), []
        for block in range(self.blocks):
            workloads = self.workloads()
            rng.shuffle(workloads)
            for workload in workloads:
                labels = self.competitors(workload[0])
                rng.shuffle(labels)
                result += [(block, workload, label) for label in labels]
        return result
