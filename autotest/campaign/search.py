"""A search for as long as there is time: cases that showed something new of the oracle become parents of others.

New is an error template, which stands for one of the oracle's checks, or a combination of dtypes and ranks of results.
Everything that is remembered stays in the driver, so that the oracle may die at any case.
"""

import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ..workers.worker import WorkerLost
from .lane import HarnessFailed, Lane
from .score import Score
from .tasks import Settings, tasks_of

_VISIT = 8  # cases per visit of an overload
_PARENTED = 0.2  # how often a case descends from the corpus; at 0.5 and more the search goes round in circles
_DEATHS = 3  # of the oracle in one overload before it is left alone
_INTEREST = 4  # how much more often an overload is visited for each thing its last visit found


@dataclass
class Found:
    """What a search met: distinct signatures per kind and overload, and the scores with their failures."""

    signatures: set = field(default_factory=set)
    scores: dict = field(default_factory=dict)
    cases: int = 0
    seconds: float = 0.0

    def count(self, kind: str) -> int:
        """How many different things of a kind, `error` or `result`, were met, over all overloads."""
        return sum(signature[2] == kind for signature in self.signatures)

    @property
    def failing(self) -> list[Score]:
        """Scores with failures that are not lenient."""
        return [score for score in self.scores.values() if score.failed]


class Search:
    """Explores overloads on one lane. Without `guided` every case is drawn afresh, as in a plain run."""

    def __init__(self, lane: Lane, settings: Settings, guided: bool = True):
        self._lane = lane
        self._settings = settings
        self._guided = guided
        self._random = random.Random(settings.first)
        self._corpus: dict = defaultdict(list)  # task: sequences of choices
        self._deaths: Counter = Counter()
        self.found = Found()

    def run(self, seconds: float, cases: int | None = None, on_visit=lambda name: None) -> Found:
        """Searches for so long, or for so many cases. Raises UsageError for unknown operations."""
        started = time.monotonic()
        tasks = [task for task in tasks_of(self._lane.universe(), self._settings) if not task[0].backend]
        self._random.shuffle(tasks)
        interest = {task: 1 for task in tasks}
        waiting = list(tasks)  # every task once, then by interest
        while interest and time.monotonic() - started < seconds and (cases is None or self.found.cases < cases):
            task = waiting.pop() if waiting else self._random.choices([*interest], [*interest.values()])[0]
            news = self._visit(task)
            if self._deaths[task] >= _DEATHS:
                del interest[task]
            elif self._guided:
                interest[task] = 1 + _INTEREST * news
            on_visit(task[0].name)
        self.found.seconds = time.monotonic() - started
        return self.found

    def _visit(self, task: tuple) -> int:
        """Tries some cases of a task; returns how many showed something new."""
        overload, dtype = task
        attempts = [(self._random.getrandbits(32), self._parent(task)) for _ in range(_VISIT)]
        self.found.cases += len(attempts)
        try:
            blob, seen = self._lane.ask("explore", overload.name, dtype, attempts)
        except (WorkerLost, HarnessFailed):
            self._deaths[task] += 1
            return 0
        news = 0
        for signature, choices in seen:
            known = (overload.name, dtype, *signature)
            if known not in self.found.signatures:
                self.found.signatures.add(known)
                self._corpus[task].append(choices)
                news += 1
        self._lane.judge(self.found.scores.setdefault(task, Score(overload.name, overload.path, dtype)), blob)
        return news

    def _parent(self, task: tuple) -> tuple:
        """Choices to begin with: a changed sequence of the corpus, or none."""
        corpus = self._corpus[task]
        if not self._guided or not corpus or self._random.random() > _PARENTED:
            return ()
        return mutated(self._random.choice(corpus), self._random.choice(corpus), self._random)


def mutated(choices: tuple, other: tuple, rng: random.Random) -> tuple:
    """`choices` with a few of them changed, dropped, cut off, or followed by the end of `other`."""
    made = list(choices)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, how = rng.randrange(len(made) + 1), rng.choice(("change", "change", "change", "drop", "cut", "splice"))
        if how == "change" and at < len(made):
            made[at] = rng.choice((0, 1, made[at] + 1, rng.randrange(12)))
        elif how == "drop":
            del made[at:at + rng.choice((1, 1, 2, 4))]
        elif how == "cut":
            del made[at:]
        elif how == "splice":
            made[at:] = other[at:]
    return tuple(made)
