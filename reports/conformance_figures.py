"""What follows from `weir.conformance/v1` records: shares of passing cells, verdicts by op."""

from collections import Counter
from dataclasses import dataclass

STATES = ("PASS", "EXCUSED", "FAIL", "MISSING", "UNMAPPABLE", "ORACLE-ERROR", "N/A")
# The cells that a framework can be held to: the oracle answers, and the question exists.
COUNTED = ("PASS", "EXCUSED", "FAIL", "MISSING", "UNMAPPABLE")
_WORST_FIRST = ("FAIL", "MISSING", "UNMAPPABLE", "ORACLE-ERROR", "EXCUSED", "PASS", "N/A")


@dataclass(frozen=True)
class OpRow:
    """One op: its cells and its worst state in each direction, as the reader should see it first."""

    op: str
    cells: list
    fwd: str
    bwd: str


@dataclass(frozen=True)
class Conformance:
    """One record's figures. `fwd` and `bwd` count cells by state; shares are of `COUNTED` cells, None if none."""

    record: dict
    rows: list
    fwd: Counter
    bwd: Counter

    @property
    def title(self) -> str:
        """Returns e.g. `weir 0.1.0 against torch 2.13.0, float32`."""
        subject, oracle = self.record["subject"], self.record["oracle"]
        return (f"{subject['name']} {subject['version'] or ''} against {oracle['name']} {oracle['version'] or ''}, "
                f"{self.record['dtype']}")


def latest(records: list[dict]) -> list[Conformance]:
    """Returns the figures of the newest record (records come oldest first) per subject, oracle and dtype."""
    newest = {(r["subject"]["name"], r["oracle"]["name"], r["dtype"]): r for r in records}
    return [conformance(newest[key]) for key in sorted(newest)]


def conformance(record: dict) -> Conformance:
    """Returns the figures of one record, failing ops first, then those missing, each in alphabetical order."""
    by_op: dict[str, list] = {}
    for cell in record["cells"]:
        by_op.setdefault(cell["op"], []).append(cell)
    rows = [OpRow(op, by_op[op], worst(by_op[op], "fwd"), worst(by_op[op], "bwd")) for op in sorted(by_op)]
    rows.sort(key=lambda row: min(_WORST_FIRST.index(row.fwd), _WORST_FIRST.index(row.bwd)))
    return Conformance(record, rows, *(Counter(c[way] or "N/A" for c in record["cells"]) for way in ("fwd", "bwd")))


def share(counts: Counter) -> float | None:
    """Returns right cells, excused ones among them, over counted cells, or None when nothing counts."""
    counted = sum(counts[state] for state in COUNTED)
    return (counts["PASS"] + counts["EXCUSED"]) / counted if counted else None


def agreement(counts: Counter) -> float | None:
    """Returns passing cells over those that both frameworks answered: what is missing is not wrong."""
    answered = _answered(counts)
    return 1 - counts["FAIL"] / answered if answered else None


def presence(counts: Counter) -> float | None:
    """Returns the answered cells, right or wrong, over counted ones."""
    counted = sum(counts[state] for state in COUNTED)
    return _answered(counts) / counted if counted else None


def _answered(counts: Counter) -> int:
    return counts["PASS"] + counts["EXCUSED"] + counts["FAIL"]


def worst(cells: list[dict], way: str) -> str:
    """Returns the state that says most against the op: FAIL before MISSING before ... before PASS before N/A."""
    states = {cell[way] or "N/A" for cell in cells}
    return next(s for s in _WORST_FIRST if s in states)
