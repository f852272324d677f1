"""The ratchet: a committed baseline that cells may rise above and never fall below.

The baseline is JSON, one row a line, so that its history reads well. Its groups are the dtypes of the op database, whose
rows are ops with a state per phase, and "50 calls" and the like, after the number of generated calls: their rows are overloads
in one dtype with a letter per property. More calls find more, so tiers do not compare.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .check.properties import PROPERTIES
from .opdb.cell import PHASES

SCHEMA = "weir.baseline/v2"
NEW = "new"  # stands for the state of a cell the baseline does not have
ABSENT = "absent"  # stands for the state of a cell that the run left out

#: How good a state is. A cell falls when its rank does; being left out ranks lowest, so that skipping raises nothing.
RANK = {ABSENT: 0, "FAIL": 1, "MISSING": 1, "UNMAPPABLE": 1, "ORACLE-ERROR": 1, "LENIENT": 2, "UNSUPPORTED": 2,
        "UNTESTED": 2, "ORACLE-LIMIT": 2, "EXCUSED": 3, "N/A": 4, "PASS": 4}
GOOD = 4

#: One letter a state keeps a campaign's rows short.
LETTERS = {"FAIL": "F", "LENIENT": "L", "UNSUPPORTED": "u", "UNTESTED": ".", "ORACLE-LIMIT": "o", "EXCUSED": "e", "PASS": "P"}


@dataclass(frozen=True)
class Change:
    """A cell that differs from the baseline."""

    op: str
    phase: str
    before: str
    after: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.op} {self.phase}: {self.before} -> {self.after}"


@dataclass
class Verdict:
    """The outcome of a gate: it holds unless something fell."""

    fell: list[Change] = field(default_factory=list)
    rose: list[Change] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return not self.fell


@dataclass
class Table:
    """States by row and column; `group` is the part of a baseline that the rows belong to."""

    group: str
    columns: tuple
    rows: dict
    reasons: dict = field(default_factory=dict)


def table(record: dict) -> Table:
    """The states of a record of either kind."""
    if "cells" in record:
        cells = {_name(cell): cell for cell in record["cells"]}
        return Table(record["dtype"], PHASES, {name: [cell[phase] for phase in PHASES] for name, cell in cells.items()},
                     {name: cell["reason"] for name, cell in cells.items()})
    rows = {f"{score['overload']} {score['dtype']}": score for score in record["scores"]}
    return Table(f"{record['settings']['cases']} calls", PROPERTIES, {name: [score["states"][p] for p in PROPERTIES] for name, score in rows.items()},
                 {name: "\n".join(f"{f['property']}: {f['reason']} | {f['call']}" for f in score["failures"])
                  for name, score in rows.items()})


def load(path: Path) -> dict:
    """The baseline at `path`, group by group. Raises ValueError, also where there is no such file: a gate without a baseline
    would hold whatever happens."""
    if not path.exists():
        raise ValueError(f"{path}: there is no such baseline; `gate --update` makes one")
    baseline = json.loads(path.read_text())
    if not isinstance(baseline, dict) or baseline.get("schema") != SCHEMA:
        raise ValueError(f"{path} is not a baseline of schema {SCHEMA!r}")
    return {group: {row: _spell(states) for row, states in rows.items()} for group, rows in baseline["groups"].items()}


def compare(now: Table, baseline: dict, asked: Callable[[str], bool] = lambda row: True) -> Verdict:
    """Compares a run with the baseline.

    A row of the baseline that the run was `asked` for and lacks has fallen, since leaving out may not raise a score.
    """
    before = baseline.get(now.group, {})
    verdict = Verdict()
    for row in [*now.rows, *(row for row in before if row not in now.rows and asked(row))]:
        old = before.get(row, [None] * len(now.columns))
        new = now.rows.get(row, [ABSENT] * len(now.columns))
        for column, was, state in zip(now.columns, old, new):
            change = Change(row, column, was or NEW, state, now.reasons.get(row, ""))
            if was is not None and RANK[state] < RANK[was]:
                verdict.fell.append(change)
            elif (was is None or RANK[state] > RANK[was]) and RANK[state] == GOOD:
                verdict.rose.append(change)
    return verdict


def raised(now: Table, baseline: dict) -> dict:
    """A baseline with the better state of each cell; nothing in it ever falls."""
    merged = dict(baseline.get(now.group, {}))
    for row, new in now.rows.items():
        old = merged.get(row, new)
        merged[row] = [was if RANK[state] < RANK[was] else state for was, state in zip(old, new)]
    return {**baseline, now.group: merged}


def save(baseline: dict, path: Path) -> None:
    """Writes `baseline` with one row a line, sorted."""
    sections = []
    for group, rows in sorted(baseline.items()):
        lines = ",\n".join(f"   {json.dumps(row)}: {json.dumps(_short(states))}" for row, states in sorted(rows.items()))
        sections.append(f"  {json.dumps(group)}: {{\n{lines}\n  }}")
    body = ",\n".join(sections)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{\n "schema": {json.dumps(SCHEMA)},\n "groups": {{\n{body}\n }}\n}}\n')


def _short(states: list):
    return "".join(LETTERS[state] for state in states) if all(state in LETTERS for state in states) and len(states) > len(PHASES) else states


def _spell(states) -> list:
    names = {letter: state for state, letter in LETTERS.items()}
    return [names[letter] for letter in states] if isinstance(states, str) else states


def _name(cell: dict) -> str:
    return f"{cell['op']}.{cell['variant']}" if cell["variant"] else cell["op"]
