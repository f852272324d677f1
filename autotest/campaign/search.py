"""Generates further cases for as long as there is time, a few of every operation in turn, and keeps what fails.

Road not taken: to let new error messages of PyTorch lead the way. Over the whole universe that met no more of its checks than
drawing afresh, and cost a corpus, mutations of choices and a second way to write batches.
"""

import random
import time
from dataclasses import dataclass, field

from .lane import Lane
from .score import Score
from .tasks import Settings, tasks_of

VISIT = 8  # cases per visit of an operation


@dataclass
class Found:
    """What a search met: the scores with failures, how many cases it asked, and how long it took."""

    failing: list[Score] = field(default_factory=list)
    cases: int = 0
    seconds: float = 0.0


def search(lane: Lane, settings: Settings, seconds: float, visits: int | None = None, on_visit=lambda name: None) -> Found:
    """Searches for so long, or for so many visits, from the case `settings.first` on. Raises UsageError for unknown operations."""
    started, found, done = time.monotonic(), Found(), 0
    tasks = [task for task in tasks_of(lane.universe(), settings) if not task[0].backend]
    random.Random(settings.first).shuffle(tasks)
    first = settings.first
    while tasks:
        for task in tasks:
            found.seconds = time.monotonic() - started
            if found.seconds >= seconds or done == visits:
                return found
            score = lane.finish(lane.prepare(task, range(first, first + VISIT)))
            found.cases += score.cases
            found.failing += [score] if score.failed else []
            done += 1
            on_visit(task[0].name)
        first += VISIT
    return found
