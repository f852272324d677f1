"""Cases about objects that keep state: a module, an optimizer, a learning rate scheduler, as data.

Each names its class by the item's target. Descriptors of all fields share `storages` and ids, as in a call's case.
"""

from dataclasses import dataclass, field, fields, replace
from typing import Any

from .case import Named, TensorSpec, leaves, map_tree


@dataclass(frozen=True)
class Power:
    """The function `lambda step: base ** step`, for parameters that take a function: data, unlike a lambda."""

    base: float

    def __call__(self, step):
        return self.base ** step


@dataclass(frozen=True)
class Built:
    """An argument that is itself an object: the class at `path`, called with `kwargs`."""

    path: str
    kwargs: dict


@dataclass
class ModuleCase:
    """A module made by `args` and `kwargs`, given `state` and called with `inputs` and `named`.

    `lazy`: its parameters exist only after a first call. `differentiated`: for gradients, in evaluation (False) and training.
    """

    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    inputs: tuple = ()
    named: dict = field(default_factory=dict)
    state: dict = field(default_factory=dict)
    dtype: Named = Named("dtype", "float32")
    lazy: bool = False
    differentiated: tuple = (False, True)
    storages: list = field(default_factory=list)


@dataclass
class OptimizerCase:
    """Steps of an optimizer: `gradients` holds for each step what every parameter's `grad` is, None for none.

    `groups` are dicts of `params` and options. At step `resume`, if not 0, a new optimizer takes over the state dict.
    `closure`: its step wants a function that computes the loss.
    """

    groups: list = field(default_factory=list)
    kwargs: dict = field(default_factory=dict)
    gradients: list = field(default_factory=list)
    resume: int = 0
    closure: bool = False
    storages: list = field(default_factory=list)


@dataclass
class SchedulerCase:
    """`steps` of a scheduler over groups that begin at `rates`; `metrics` go into its step if it wants one."""

    kwargs: dict = field(default_factory=dict)
    rates: list = field(default_factory=list)
    steps: int = 1
    resume: int = 0
    metrics: list | None = None
    storages: list = field(default_factory=list)


#: By the word that the failure database writes.
CASES = {"module": ModuleCase, "optimizer": OptimizerCase, "scheduler": SchedulerCase}


def parts(case) -> dict:
    """The fields that hold arguments, by name."""
    return {f.name: getattr(case, f.name) for f in fields(case) if f.name != "storages"}


def mapped(leaf, case, storages: list):
    """`case` with `leaf` applied to everything its fields hold, over other `storages`."""
    return replace(case, **{name: map_tree(leaf, part) for name, part in parts(case).items()}, storages=storages)


def tensors(case) -> list[TensorSpec]:
    """The distinct tensors of a case, in order of mention."""
    found: dict[Any, TensorSpec] = {}
    for leaf in leaves(tuple(parts(case).values())):
        if isinstance(leaf, TensorSpec):
            found.setdefault(leaf.id, leaf)
    return list(found.values())
