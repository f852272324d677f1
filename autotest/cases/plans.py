"""Functions of a framework and a plan, by path, as targets name them: what no single operation shows, and users' own code does."""

import inspect

from . import assembling, keeping, recording

FUNCTIONS = {"recording.function": recording.function, "recording.hooks": recording.hooks, "recording.module_hooks": recording.module_hooks,
             "recording.parameters": recording.parameters, "keeping.copies": keeping.copies, "keeping.states": keeping.states,
             "assembling.containers": assembling.containers, "assembling.loading": assembling.loading}


def tensors_of(path: str) -> tuple:
    """The tensors that a function takes: its parameters without a default, but for the framework."""
    parameters = list(inspect.signature(FUNCTIONS[path]).parameters.values())[1:]
    return tuple(p.name for p in parameters if p.default is p.empty)


def on_tensors(path: str) -> bool:
    """Whether what a path leads to computes on tensors only: copies, files and loaders are nothing that a graph could hold."""
    return path not in FUNCTIONS or path.startswith("recording.")
