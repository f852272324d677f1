"""What follows from `weir.programs/v1` records: which programs print the same, and ratios of time and memory."""

import math
from dataclasses import dataclass
from statistics import median

from .intervals import Interval, of_mean

LEAST_S = 0.2  # of work behind the start-up: what is shorter tells nothing of speed


@dataclass(frozen=True)
class ProgramRow:
    """A program. `whole` is the ratio of PyTorch's time to weir's, `work` that of what follows the import; `memory` is weir's share of PyTorch's
    largest resident size. Seconds are medians of the rounds, without the start-up."""

    name: str
    reason: str | None
    whole: Interval | None
    work: Interval | None
    memory: float | None
    subject_s: float | None
    peer_s: float | None


@dataclass(frozen=True)
class Programs:
    """A record's programs, those that differ first, then the slowest."""

    record: dict
    rows: list[ProgramRow]
    startup: Interval | None

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
    startup = record["startup"]
    imports = {side: median(r[side]["seconds"] for r in startup) if startup else 0.0 for side in ("subject", "peer")}
    rows = [_row(entry, imports) for entry in record["programs"]]
    rows.sort(key=lambda row: (row.reason is None, row.work.value if row.work else math.inf, row.name))
    return Programs(record, rows, _ratio([(r["peer"]["seconds"], r["subject"]["seconds"]) for r in startup]))


def _row(entry: dict, imports: dict) -> ProgramRow:
    rounds = entry["rounds"]
    if entry["reason"] or not rounds:  # the time of a wrong answer is none
        return ProgramRow(entry["name"], entry["reason"], None, None, None, None, None)
    work = [{side: r[side]["seconds"] - imports[side] for side in imports} for r in rounds]
    subject, peer = (median(r[side] for r in work) for side in ("subject", "peer"))
    enough = all(r[side] > 0 for r in work for side in imports) and min(subject, peer) >= LEAST_S
    return ProgramRow(entry["name"], entry["reason"], _ratio([(r["peer"]["seconds"], r["subject"]["seconds"]) for r in rounds]),
                      _ratio([(r["peer"], r["subject"]) for r in work]) if enough else None,
                      median(r["subject"]["rss"] for r in rounds) / median(r["peer"]["rss"] for r in rounds), subject, peer)


def _ratio(pairs: list[tuple[float, float]]) -> Interval | None:
    return of_mean([math.log(peer / subject) for peer, subject in pairs]).exp() if pairs else None
