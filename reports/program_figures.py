"""What follows from `weir.programs/v1` records: which programs print the same, and ratios of time and memory."""

import math
from dataclasses import dataclass
from statistics import median

from .intervals import Interval, of_mean

LEAST_S = 0.01  # of work: what is shorter tells nothing of speed


@dataclass(frozen=True)
class ProgramRow:
    """A program. `whole` is the ratio of PyTorch's time to weir's for a process, `work` that of running it once more there; `memory` is weir's share
    of PyTorch's largest resident size. Seconds are medians of the rounds, of the work."""

    name: str
    reason: str | None
    whole: Interval | None
    work: Interval | None
    memory: float | None
    subject_s: float | None
    peer_s: float | None

    @property
    def untimed(self) -> str:
        """Why there is no ratio of the work; empty where there is one, or what is printed differs."""
        if self.work or self.reason:
            return ""
        return "no second run" if None in (self.peer_s, self.subject_s) else "too short"


@dataclass(frozen=True)
class Programs:
    """A record's programs, those that differ first, then the slowest."""

    record: dict
    rows: list[ProgramRow]

    @property
    def same(self) -> int:
        """How many print the same under both."""
        return sum(row.reason is None for row in self.rows)

    @property
    def timed(self) -> list[ProgramRow]:
        """Those long enough to tell something of speed, the slowest first."""
        return sorted((row for row in self.rows if row.work), key=lambda row: row.work.value)


def programs(record: dict) -> Programs:
    """The figures of a record."""
    rows = sorted(map(_row, record["programs"]), key=lambda row: (row.reason is None, row.work.value if row.work else math.inf, row.name))
    return Programs(record, rows)


def _row(entry: dict) -> ProgramRow:
    rounds = entry["rounds"]
    if entry["reason"] or not rounds:  # the time of a wrong answer is none
        return ProgramRow(entry["name"], entry["reason"], None, None, None, None, None)
    pairs = {name: [(r["peer"][name], r["subject"][name]) for r in rounds] for name in ("seconds", "work", "rss")}
    peer, subject = (None if None in times else median(times) for times in zip(*pairs["work"]))
    enough = None not in (peer, subject) and min(peer, subject) >= LEAST_S
    memory = median(r for _, r in pairs["rss"]) / median(r for r, _ in pairs["rss"])
    return ProgramRow(entry["name"], entry["reason"], _ratio(pairs["seconds"]), _ratio(pairs["work"]) if enough else None, memory, subject, peer)


def _ratio(pairs: list[tuple[float, float]]) -> Interval | None:
    return of_mean([math.log(peer / subject) for peer, subject in pairs]).exp() if pairs else None
