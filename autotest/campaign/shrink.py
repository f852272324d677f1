"""Makes a failing case small: shorter and lower choices first, as long as the same property of the same op fails."""

import math
import time
from dataclasses import dataclass

from ..workers.kinds import kind_of
from ..workers.worker import WorkerLost
from .lane import HarnessFailed, Lane
from .score import Failure
from .tasks import Settings

_MOST_TRIES = 600  # runs of oracle and subject per failure, about a second


@dataclass(frozen=True)
class Shrunk:
    """A failure with the smallest case found and the number of runs that took."""

    failure: Failure
    item: object
    tries: int

    @property
    def script(self) -> str:
        """A stand-alone script that runs in either framework, by changing its import."""
        return kind_of(self.item).script(self.item, self.failure)


def shrink_all(settings: Settings, scores: list, seconds: float = math.inf):
    """Yields the failures of `scores` made small, one per overload, dtype and property, until time is up."""
    end = time.monotonic() + seconds
    with Lane(settings) as lane:
        for score in scores:
            firsts = {failure.property: failure for failure in reversed(score.failures)}
            for failure in firsts.values():
                if time.monotonic() > end:
                    return
                shrunk = shrink(lane, failure)
                if shrunk:
                    yield shrunk


def shrink(lane: Lane, failure: Failure) -> Shrunk | None:
    """The smallest case that fails like `failure`; None if it does not fail again, or by a crash."""
    search = _Search(lane, failure)
    best = list(failure.choices)
    if not search.fails(best):
        return None
    while True:
        smaller = search.pass_over(best)
        if smaller == best:
            return Shrunk(search.failure, search.item, search.tries)
        best = smaller


class _Search:
    """The choices of one failure getting fewer and lower."""

    def __init__(self, lane: Lane, failure: Failure):
        self._lane = lane
        self._wanted = failure
        self._known: dict = {}
        self.failure, self.item, self.tries = failure, None, 0

    def fails(self, choices: list) -> bool:
        """Whether `choices` fail like the wanted failure; the last that did is kept."""
        key = tuple(choices)
        if key not in self._known:
            if self.tries >= _MOST_TRIES:
                return False
            self.tries += 1
            self._known[key] = self._try(key)
        return self._known[key]

    def _try(self, choices: tuple) -> bool:
        wanted = self._wanted
        try:
            found = self._lane.replay(wanted.overload, wanted.dtype, choices)
        except (WorkerLost, HarnessFailed):
            return False
        for item, failure in found:
            if failure.property == wanted.property and _kind(failure) == _kind(wanted):
                self.failure, self.item = failure, item
                return True
        return False

    def pass_over(self, best: list) -> list:
        """One round of deleting, zeroing and halving."""
        for size in (16, 8, 4, 2, 1):
            at = len(best) - size
            while at >= 0:
                best = self._first_failing([best[:at] + best[at + size:]], best)
                at -= size
        for at in range(len(best)):
            if at < len(best) and best[at]:
                value = best[at]
                lower = [best[:at] + [v] + best[at + 1:] for v in (0, value // 2, value - 1) if v < value]
                best = self._first_failing(lower, best)
        return best

    def _first_failing(self, candidates: list, otherwise: list) -> list:
        return next((c for c in candidates if c != otherwise and self.fails(c)), otherwise)


def _kind(failure: Failure) -> str:
    """The failure without its numbers: what must stay the same while a case shrinks."""
    return "".join(c for c in failure.reason.split(":")[0] if not c.isdigit())
