"""Replays the failure database: the cheapest part of a run, and so the first."""

import pickle
from dataclasses import dataclass

from ..cases.database import Entry
from ..workers.worker import WorkerLost
from .lane import HarnessFailed, Lane
from .score import Failure, Score
from .tasks import Settings


@dataclass(frozen=True)
class Replayed:
    """An entry and what fails now; `failures` is empty where all is well."""

    entry: Entry
    failures: tuple

    @property
    def passed(self) -> bool:
        return not self.failures


def replay(settings: Settings, entries: list[Entry], on_entry=lambda name: None) -> list[Replayed]:
    """Runs every entry on oracle and subject."""
    found = []
    with Lane(settings) as lane:
        for entry in entries:
            found.append(Replayed(entry, tuple(_failures(lane, entry))))
            on_entry(entry.name)
    return found


def _failures(lane: Lane, entry: Entry) -> list:
    score = Score(entry.op, entry.target.paths[0], "")
    try:
        item = lane.ask("expect", entry.target, entry.case)
    except WorkerLost:
        return []  # the oracle's fault is never the subject's
    except HarnessFailed as error:
        return [Failure(entry.op, "", 0, "crash", f"the harness {error}", entry.target.label)]
    lane.judge(score, pickle.dumps([item]))
    return score.failures
