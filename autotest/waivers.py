"""Waivers: cells that may stay fallen for a while, each with a reason and a last day.

The file is JSON, read as data:

    {"schema": "weir.waivers/v1", "waivers": [
      {"row": "svd float32", "column": "value", "reason": "signs under review", "issue": "#12", "until": "2026-12-31"}]}
"""

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .gate import Verdict

SCHEMA = "weir.waivers/v1"


@dataclass(frozen=True)
class Waiver:
    """One cell (`row` and `column` of the gate's table) that is let pass up to and including `until`."""

    row: str
    column: str
    reason: str
    issue: str
    until: date

    def __str__(self) -> str:
        return f"{self.row} {self.column} until {self.until} ({self.issue}: {self.reason})"


@dataclass(frozen=True)
class Applied:
    """What waivers did to a verdict: what counts now, what was let pass, which waivers are over or not needed."""

    verdict: Verdict
    waived: list
    expired: list[Waiver]
    idle: list[Waiver]


def load(path: Path) -> list[Waiver]:
    """The waivers in file `path`; none if there is no such file. Raises ValueError for what is not a waiver file."""
    if not path.exists():
        return []
    content = json.loads(path.read_text())
    if not isinstance(content, dict) or content.get("schema") != SCHEMA or not isinstance(content.get("waivers"), list):
        raise ValueError(f"not a file of schema {SCHEMA!r}")
    return [_waiver(entry) for entry in content["waivers"]]


def _waiver(entry) -> Waiver:
    wanted = {"row", "column", "reason", "issue", "until"}
    if not isinstance(entry, dict) or set(entry) != wanted or not all(isinstance(text, str) and text for text in entry.values()):
        raise ValueError(f"a waiver needs the texts {', '.join(sorted(wanted))}, got {json.dumps(entry)}")
    return Waiver(**{**entry, "until": date.fromisoformat(entry["until"])})


def apply(waivers: list[Waiver], verdict: Verdict, today: date) -> Applied:
    """Lets the fallen cells pass that a waiver in force names. An expired waiver lets nothing pass."""
    expired = [waiver for waiver in waivers if waiver.until < today]
    active = {(waiver.row, waiver.column): waiver for waiver in waivers if waiver.until >= today}
    waived = [(change, active[change.op, change.phase]) for change in verdict.fell if (change.op, change.phase) in active]
    used = {waiver for _, waiver in waived}
    kept = [change for change in verdict.fell if (change.op, change.phase) not in active]
    return Applied(Verdict(kept, verdict.rose), waived, expired, [w for w in active.values() if w not in used])
