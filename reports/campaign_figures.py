"""What follows from `weir.campaign/v1` records: states by property and by op, failing calls."""

from collections import Counter
from dataclasses import dataclass

STATES = ("PASS", "LENIENT", "FAIL", "UNSUPPORTED", "UNTESTED", "ORACLE-LIMIT")
# Cells that a framework can be held to: the oracle answered and the question was asked.
COUNTED = ("PASS", "LENIENT", "FAIL", "UNSUPPORTED")
_WORST_FIRST = ("FAIL", "LENIENT", "UNSUPPORTED", "PASS", "ORACLE-LIMIT", "UNTESTED")


@dataclass(frozen=True)
class OpRow:
    """One public operation: its worst state per property over overloads and dtypes, and its failures."""

    path: str
    states: dict
    failures: list


@dataclass(frozen=True)
class Campaign:
    """One record's figures; `counts` holds a Counter of states per property."""

    record: dict
    properties: list
    counts: dict
    rows: list

    @property
    def title(self) -> str:
        """Returns e.g. `weir 0.1.0 against torch 2.13.0, float32, int64`."""
        subject, oracle = self.record["subject"], self.record["oracle"]
        dtypes = ", ".join(sorted({score["dtype"] for score in self.record["scores"]}))
        return f"{subject['name']} {subject['version'] or ''} against {oracle['name']} {oracle['version'] or ''}, {dtypes}"


def latest(records: list[dict]) -> list[Campaign]:
    """Returns the figures of the newest record (records come oldest first) per subject and oracle."""
    newest = {(r["subject"]["name"], r["oracle"]["name"]): r for r in records}
    return [campaign(newest[key]) for key in sorted(newest)]


def campaign(record: dict) -> Campaign:
    """Returns the figures of one record; properties in the record's order, operations in alphabetical order."""
    properties = list(record["scores"][0]["states"]) if record["scores"] else []
    counts = {name: Counter(score["states"][name] for score in record["scores"]) for name in properties}
    by_path: dict[str, list] = {}
    for score in record["scores"]:
        by_path.setdefault(score["path"], []).append(score)
    rows = [OpRow(path, {name: worst(scores, name) for name in properties}, [f for s in scores for f in s["failures"]])
            for path, scores in sorted(by_path.items())]
    return Campaign(record, properties, counts, rows)


def worst(scores: list[dict], name: str) -> str:
    """Returns the state that says most against the operation."""
    states = {score["states"][name] for score in scores}
    return next(state for state in _WORST_FIRST if state in states)


def share(counts: Counter) -> float | None:
    """Returns passing cells over counted cells, or None when nothing counts."""
    counted = sum(counts[state] for state in COUNTED)
    return counts["PASS"] / counted if counted else None
