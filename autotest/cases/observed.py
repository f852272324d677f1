"""What a case did, of any kind: what frameworks hand back and comparisons read."""

from dataclasses import dataclass, field

from .values import Raised

#: Stands for the exception's name where not even the inputs could be made, as with a dtype the framework lacks.
CANNOT_BUILD = "CannotBuildInputs"


@dataclass
class Observation:
    """What a case did. Lists run over the outputs, in order of mention; `written` over input tensors by id, and, by -1 - id, over
    the whole memory of which an `out=` is a part.

    aliases: ("same", input id) for an input handed back, ("view", storage) for a view of one, None otherwise.
    spoiled: the storages that were written though no version counter tells.
    through: what a view and its base show after a write into the other one.
    determined: what a case's `process` makes of the result; gradients are then those of this part.
    lacks: properties that the framework has no means to be asked for.
    warned: the classes of the warnings of the call itself, of several with one text the first, in alphabetical order.
    undefined: of the oracle's, by phase and position, the elements that were cast to an integer type that cannot hold them.
    """

    raised: Raised | None = None
    unmappable: str | None = None
    structure: str = ""
    values: list = field(default_factory=list)
    strides: list = field(default_factory=list)
    aliases: list = field(default_factory=list)
    requires_grad: list = field(default_factory=list)
    versions: dict = field(default_factory=dict)
    written: dict = field(default_factory=dict)
    spoiled: tuple = ()
    through: list = field(default_factory=list)
    gradients: list | Raised | None = None
    second: list | Raised | None = None
    determined: list | None = None
    lacks: tuple = ()
    warned: tuple = ()
    undefined: dict = field(default_factory=dict)


@dataclass
class StepSeen:
    """What one call returned. `aliases`: per tensor the first earlier tensor whose memory it shares, by number."""

    values: list = field(default_factory=list)
    strides: list = field(default_factory=list)
    aliases: list = field(default_factory=list)
    requires_grad: list = field(default_factory=list)


@dataclass
class Progress:
    """Steps up to the first that failed; then what all tensors hold, their versions, and the inputs' gradients.

    The last three are empty where a step failed.
    """

    steps: list = field(default_factory=list)
    raised: Raised | None = None
    final: list = field(default_factory=list)
    versions: list = field(default_factory=list)
    gradients: list | Raised | None = None


@dataclass
class Entry:
    """One thing seen. `free`: random numbers were drawn on the way, so that only dtype and shape mean anything."""

    property: str
    label: str
    value: object
    free: bool = False


@dataclass
class Journal:
    """Entries in order, up to the first exception; `doing` is the property and phase that it broke."""

    entries: list = field(default_factory=list)
    raised: Raised | None = None
    unmappable: str | None = None
    doing: tuple = ("value", "construction")

    def by_label(self) -> dict:
        """The entries by their labels, which are unique."""
        return {entry.label: entry for entry in self.entries}
