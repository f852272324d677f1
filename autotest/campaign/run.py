"""Runs generated cases on a subject and scores every overload, whatever oracle and subject do meanwhile."""

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone

from weir_reports.limits import TimeLimit

from ..workers.lanes import share
from ..workers.worker import WorkerLost
from .lane import Lane
from .score import Score
from .tasks import Settings, UsageError, tasks_of


@dataclass
class Campaign:
    """A campaign: finished, or ended early by its limit or an interrupt."""

    settings: Settings
    subject_version: str
    oracle_version: str
    scores: list[Score]
    seconds: float
    unfinished: int = 0  # rows that were left out
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))


def run(settings: Settings, on_start=lambda count: None, on_score=lambda score: None, limit: TimeLimit = TimeLimit()) -> Campaign:
    """Runs the campaign. Raises UsageError if it cannot start.

    With a limit one dtype comes after the other: what there is time for is every operation in the first, not every dtype of a few.
    """
    started = time.monotonic()
    try:
        with ExitStack() as stack:
            first = stack.enter_context(Lane(settings))
            state, version = first.subject.start()
            if state != "ready":
                raise UsageError(f"cannot import {settings.subject}: {version}")
            oracle_version = first.oracle.start()[1]
            tasks = tasks_of(first.universe(), settings)
            on_start(len(tasks))
            useful = min(settings.jobs, len({overload.kin for overload, _ in tasks}))
            lanes = [first, *(stack.enter_context(Lane(settings)) for _ in range(useful - 1))]
            parts = [[task for task in tasks if task[1] == dtype] for dtype in settings.dtypes] if limit else [tasks]
            scores = [score for part in parts for score in share(lanes, part, on_score, lambda task: task[0].kin, limit)]
            return Campaign(settings, version, oracle_version, scores, time.monotonic() - started, len(tasks) - len(scores))
    except WorkerLost as lost:
        raise UsageError(f"a worker did not start: {lost}") from None
