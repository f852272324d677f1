"""The adapters: one trainer per kind of framework. A trainer is made from a spec, has `version`, `params`, `weights_sha` and
`data_sha`, and its `step()` trains on one batch."""

import importlib
import math

TRAINERS = {"jax": "jax", "tensorflow": "tensorflow"}  # other modules offer PyTorch's API


def trainer(spec: dict):
    """Returns the trainer of a spec; this loads the framework."""
    return importlib.import_module(f".{TRAINERS.get(spec['module'], 'torch_api')}", __package__).Trainer(spec)


def finite(value: float | None) -> float | None:
    """Returns `value`, or None where it is no finite number."""
    return value if value is not None and math.isfinite(value) else None
