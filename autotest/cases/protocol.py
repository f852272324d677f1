"""What the driver and its workers say to each other. Messages are pickled; see worker.py."""

from dataclasses import dataclass, field

import numpy as np

from ..workers.trial import Observation
from .case import Case
from .target import Target
from .values import Outcome


#: Results of these ops are uninitialised memory: only dtype and shape mean anything.
UNINITIALISED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
                 "new_empty_strided", "resize_", "resize_as_"}


@dataclass(frozen=True)
class OpKey:
    """An entry of the op database."""

    position: int
    name: str
    variant: str

    def __str__(self) -> str:
        return f"{self.name}.{self.variant}" if self.variant else self.name


@dataclass
class Sample:
    """A valid call and what the oracle answered.

    `random`: the call drew random numbers or returned uninitialised memory, so values are free.
    """

    index: int
    case: Case
    forward: Outcome
    backward: Outcome | None = None
    random: bool = False


@dataclass
class ErrorSample:
    """A call that must raise; `accepted` are the names of acceptable exception types."""

    index: int
    case: Case
    accepted: frozenset
    oracle_error: str


@dataclass(frozen=True)
class Omission:
    """A sample that could not be posed: `phase` fwd, bwd or err; `state` says whose limit it is."""

    phase: str
    index: int
    state: str
    reason: str


@dataclass
class Plan:
    """Everything the oracle knows about one op in one dtype."""

    key: OpKey
    target: Target
    samples: list[Sample] = field(default_factory=list)
    errors: list[ErrorSample] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    default_tolerance: tuple = (0.0, 0.0)  # rtol, atol
    has_backward: bool = False
    has_errors: bool = False


@dataclass
class Job:
    """What the subject is to run: `samples` of (index, case, with backward), `errors` of (index, case).

    `uninitialised`: the values of results mean nothing.
    """

    target: Target
    samples: list
    errors: list
    uninitialised: bool = False


@dataclass
class Reference:
    """Reruns of a case in double precision, as outcomes: exact inputs first, then perturbed ones."""

    forward: list[Outcome]
    backward: list[Outcome]


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
