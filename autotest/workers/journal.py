"""Writes down what an object does, as entries that can be compared one by one."""

from ..cases.observed import Entry, Journal
from ..cases.values import Raised, flatten, to_value


class Writer:
    """Writes the journal of one object in framework `W`.

    Once numbers are drawn, all that follows may depend on them, until something settles it: the numbers that a
    constructor draws are gone when a state is loaded.
    """

    def __init__(self, W):
        self._W = W
        self.journal = Journal()
        self.settle()

    def settle(self) -> None:
        """Says that nothing depends on the numbers drawn so far."""
        self._before, self._drawn = self._generator(), False

    def drawn(self) -> bool:
        """Whether numbers were drawn since."""
        self._drawn = self._drawn or self._generator() != self._before
        return self._drawn

    def begin(self, phase: str, property: str = "value") -> None:
        """Starts a phase, whose entries belong to `property` unless they say otherwise."""
        self.journal.doing = (property, phase)

    def note(self, what: str, tree, property: str = "") -> None:
        """One entry for the nesting of `tree` and one for each of its leaves; an exception is one entry."""
        asked, phase = self.journal.doing
        label, drawn = f"{phase}: {what}", self.drawn()
        if isinstance(tree, Raised):
            return self.journal.entries.append(Entry(property or asked, label, tree))
        structure, found = flatten(tree, self._W)
        self.journal.entries.append(Entry(property or asked, label, to_value(structure, self._W)))
        for i, leaf in enumerate(found):
            self.journal.entries.append(Entry(property or asked, f"{label} {i}", to_value(leaf, self._W), drawn))

    def _generator(self) -> bytes:
        """The state of the framework's generator, if it shows it."""
        state = getattr(self._W, "get_rng_state", lambda: None)()
        return b"" if state is None else state.numpy().tobytes()
