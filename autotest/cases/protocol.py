"""What the driver and its workers say to each other. Messages are pickled; see worker.py."""

from dataclasses import dataclass

import numpy as np

from .case import Case
from .observed import Observation
from .target import Target


@dataclass(frozen=True)
class OpKey:
    """An entry of a database: op, module or optimizer."""

    position: int
    name: str
    variant: str
    database: str = "op"

    def __str__(self) -> str:
        return f"{self.name}.{self.variant}" if self.variant else self.name


@dataclass(frozen=True)
class Omission:
    """A sample that could not be posed: `phase` fwd, bwd or err; `state` says whose limit it is."""

    phase: str
    index: int
    state: str
    reason: str


@dataclass
class Item:
    """A generated case with what the oracle observed. `random`: its numbers are free; `draws`: because they are drawn.

    `choices` are the decisions that made it, for shrinking; `drawn` a table of what many calls of the case draw;
    `pointwise`: each element stands for itself; `decomposes`: a matrix is factored, solved or inverted.
    """

    index: int
    target: Target
    case: Case
    expected: Observation
    random: bool = False
    choices: tuple = ()
    draws: bool = False
    drawn: np.ndarray | None = None
    pointwise: bool = False
    decomposes: bool = False
