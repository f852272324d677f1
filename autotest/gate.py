"""The ratchet: a committed baseline that cells may rise above and never fall below.

The baseline is JSON, one op a line, so that its history reads well:
`{"dtypes": {"float32": {"add": ["PASS", "PASS", "N/A"], ...}}}` in the order fwd, bwd, err.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from .cell import GOOD, PHASES

SCHEMA = "weir.conformance-baseline/v1"
NEW = "new"  # stands for the state of a cell the baseline does not have


@dataclass(frozen=True)
class Change:
    """A phase of an op that differs from the baseline."""

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


def load(path: Path) -> dict:
    """The baseline at `path`; an empty one if there is no such file. Raises ValueError."""
    if not path.exists():
        return {"schema": SCHEMA, "dtypes": {}}
    baseline = json.loads(path.read_text())
    if baseline.get("schema") != SCHEMA:
        raise ValueError(f"{path} is not a baseline: schema {baseline.get('schema')!r}, expected {SCHEMA!r}")
    return baseline


def compare(record: dict, baseline: dict, partial: bool = False) -> Verdict:
    """Compares a run with the baseline.

    An op of the baseline that the run lacks has fallen, since leaving out may not raise a score;
    with `partial` (the run was asked for some ops only) it is ignored.
    """
    before = baseline["dtypes"].get(record["dtype"], {})
    after = states(record)
    reasons = {_name(cell): cell["reason"] for cell in record["cells"]}
    verdict = Verdict()
    for op in [*after, *(op for op in before if op not in after and not partial)]:
        old, new = before.get(op, [None] * 3), after.get(op, ["absent"] * 3)
        for phase, was, now in zip(PHASES, old, new):
            change = Change(op, phase, was or NEW, now, reasons.get(op, ""))
            if was in GOOD and now not in GOOD:
                verdict.fell.append(change)
            elif was not in GOOD and now in GOOD:
                verdict.rose.append(change)
    return verdict


def raised(record: dict, baseline: dict) -> dict:
    """A baseline with the better state of each phase; nothing in it ever falls."""
    merged = dict(baseline["dtypes"].get(record["dtype"], {}))
    for op, new in states(record).items():
        old = merged.get(op, new)
        merged[op] = [was if was in GOOD and now not in GOOD else now for was, now in zip(old, new)]
    return {**baseline, "dtypes": {**baseline["dtypes"], record["dtype"]: merged}}


def save(baseline: dict, path: Path) -> None:
    """Writes `baseline` with one op a line, sorted."""
    sections = []
    for dtype, ops in sorted(baseline["dtypes"].items()):
        lines = ",\n".join(f"   {json.dumps(op)}: {json.dumps(states)}" for op, states in sorted(ops.items()))
        sections.append(f"  {json.dumps(dtype)}: {{\n{lines}\n  }}")
    body = ",\n".join(sections)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{\n "schema": {json.dumps(SCHEMA)},\n "dtypes": {{\n{body}\n }}\n}}\n')


def states(record: dict) -> dict:
    """Op name with variant -> its states, in the order of PHASES."""
    return {_name(cell): [cell[phase] for phase in PHASES] for cell in record["cells"]}


def _name(cell: dict) -> str:
    return f"{cell['op']}.{cell['variant']}" if cell["variant"] else cell["op"]
