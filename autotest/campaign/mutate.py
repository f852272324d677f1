"""Tests the harness: plants faults in a right subject and counts which it notices."""

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timezone

from ..workers.mutants import AIMED, KINDS, aims_at
from ..workers.worker import WorkerLost
from .lane import HarnessFailed, Lane
from .tasks import Settings, names, select


@dataclass
class Kills:
    """Per kind of fault: overloads in which it changed something, and those where a case noticed it; the same by cases."""

    planted: Counter = field(default_factory=Counter)
    noticed: Counter = field(default_factory=Counter)
    cases: Counter = field(default_factory=Counter)
    noticed_cases: Counter = field(default_factory=Counter)
    survivors: dict = field(default_factory=dict)
    settings: Settings | None = None
    oracle_version: str = ""
    seconds: float = 0.0
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))

    @property
    def rate(self) -> float:
        """The share of planted faults that were noticed, over all kinds."""
        return sum(self.noticed.values()) / max(sum(self.planted.values()), 1)


def mutate(settings: Settings, kinds: tuple = tuple(KINDS), every: int = 1,
           on_start=lambda count: None, on_overload=lambda name: None) -> Kills:
    """Runs every `every`-th overload with each fault, and those that a fault is aimed at with that one. The subject must be right:
    PyTorch itself."""
    kills, started = Kills(settings=settings), time.monotonic()
    with Lane(settings) as lane:
        kills.oracle_version = lane.oracle.start()[1]
        able = [o for o in select(lane.universe(), settings.ops) if not o.backend and not o.random]
        general = [kind for kind in kinds if kind not in AIMED]
        chosen = [(o, [kind for kind in kinds if kind in AIMED and aims_at(kind, names(o))] + general * (at % every == 0))
                  for at, o in enumerate(able)]
        chosen = [(overload, wanted) for overload, wanted in chosen if wanted]
        on_start(len(chosen))
        for overload, wanted in chosen:
            for dtype in settings.dtypes:
                if overload.takes(dtype):
                    _plant(lane, overload, dtype, wanted, kills)
            on_overload(overload.name)
    kills.seconds = time.monotonic() - started
    return kills


def _plant(lane: Lane, overload, dtype: str, kinds: list, kills: Kills) -> None:
    score, blobs = lane.prepare((overload, dtype))
    if score.oracle_limit:
        return
    for kind in kinds:
        noticed = applied = 0
        for blob in blobs:
            try:
                n, a = lane.killed(blob, kind)
            except (WorkerLost, HarnessFailed):
                continue
            noticed, applied = noticed + n, applied + a
        if applied:
            kills.planted[kind] += 1
            kills.cases[kind] += applied
            kills.noticed[kind] += noticed > 0
            kills.noticed_cases[kind] += noticed
            if not noticed:
                kills.survivors.setdefault(kind, []).append(f"{overload.name} {dtype}")
