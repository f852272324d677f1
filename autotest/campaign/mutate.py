"""Tests the harness: plants faults in a right subject and counts which it notices."""

from collections import Counter
from dataclasses import dataclass, field

from ..workers.mutants import KINDS
from ..workers.worker import WorkerLost
from .lane import HarnessFailed, Lane
from .tasks import Settings, select


@dataclass
class Kills:
    """Per kind of fault: overloads in which it changed something, and those where a case noticed it; the same by cases."""

    planted: Counter = field(default_factory=Counter)
    noticed: Counter = field(default_factory=Counter)
    cases: Counter = field(default_factory=Counter)
    noticed_cases: Counter = field(default_factory=Counter)
    survivors: dict = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """The share of planted faults that were noticed, over all kinds."""
        return sum(self.noticed.values()) / max(sum(self.planted.values()), 1)


def mutate(settings: Settings, kinds: tuple = tuple(KINDS), every: int = 1,
           on_start=lambda count: None, on_overload=lambda name: None) -> Kills:
    """Runs every `every`-th overload with each fault. The subject must be right: PyTorch itself."""
    kills = Kills()
    with Lane(settings) as lane:
        chosen = [o for o in select(lane.universe(), settings.ops) if not o.backend and not o.random][::every]
        on_start(len(chosen))
        for overload in chosen:
            for dtype in settings.dtypes:
                _plant(lane, overload, dtype, kinds, kills)
            on_overload(overload.name)
    return kills


def _plant(lane: Lane, overload, dtype: str, kinds: tuple, kills: Kills) -> None:
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
