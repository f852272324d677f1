"""What an entry of a database earned: the states of its forward, backward and error cells, and the findings behind them."""

from collections import Counter
from dataclasses import dataclass, field

from ..campaign.score import Score
from ..workers.kinds import kind_of

PHASES = ("fwd", "bwd", "err")

#: The property whose cases each phase counts.
_ASKED = {"fwd": "value", "bwd": "gradient", "err": "error"}
#: What samples are charged with; strides, aliases and versions are asked of generated calls.
CHARGED = ("value", "dtype", "shape", "state", "determinism", "gradient", "error", "crash")

#: From bad to good. The state of a cell is the worst state of its samples.
STATES = ("MISSING", "FAIL", "UNMAPPABLE", "ORACLE-ERROR", "EXCUSED", "N/A", "PASS")

#: N/A: PyTorch itself has no such thing for this op, so nothing is left to be shown.
GOOD = {"PASS", "N/A"}


@dataclass(frozen=True)
class Finding:
    """One sample that did not pass. `call` is a line, `code` a script of it."""

    phase: str
    state: str
    reason: str
    index: int | None = None
    call: str = ""
    code: str = ""

    def __str__(self) -> str:
        where = f" sample {self.index}" if self.index is not None else ""
        call = f" {self.call}:" if self.call else ""
        return f"{self.phase} {self.state}{where}:{call} {self.reason}"


@dataclass
class Cell:
    """The score of one entry: a state per phase and the findings behind it."""

    op: str
    variant: str
    states: dict = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    failures: Counter = field(default_factory=Counter)  # samples not passed, per phase
    samples: Counter = field(default_factory=Counter)  # samples seen, per phase
    notes: list[str] = field(default_factory=list)

    #: Findings kept per phase; the counts go on.
    KEEP = 5

    @property
    def name(self) -> str:
        return f"{self.op}.{self.variant}" if self.variant else self.op

    @property
    def all_pass(self) -> bool:
        """Whether forward, backward and error inputs all pass."""
        return all(self.states[phase] in GOOD for phase in PHASES)

    def lower(self, finding: Finding) -> None:
        """Counts a sample that did not pass; the worst state wins."""
        phase = finding.phase
        self.failures[phase] += 1
        now = self.states.get(phase, "PASS")
        self.states[phase] = min(now, finding.state, key=STATES.index)
        if self.failures[phase] <= self.KEEP:
            self.findings.append(finding)

    @property
    def reason(self) -> str:
        """The first finding of the worst state per phase, one line each, then the notes."""
        lines = []
        for phase in PHASES:
            worst = [f for f in self.findings if f.phase == phase and f.state == self.states[phase]]
            if worst:
                counted = self.samples[phase] and self.states[phase] not in ("MISSING", "EXCUSED")
                lines.append(f"{worst[0]}" + (f" (of {self.samples[phase]} samples)" if counted else ""))
        return "\n".join(lines + sorted(set(self.notes)))


def settled(key, score: Score, omissions: list, items: dict) -> Cell:
    """The cell of the entry `key`, of whose samples `score` tells; `items` by index are those that failed."""
    cell = Cell(key.name, key.variant)
    cell.samples.update({phase: score.asked[asked] for phase, asked in _ASKED.items()})
    for omission in omissions:
        cell.samples[omission.phase] += 1
        cell.lower(Finding(omission.phase, omission.state, omission.reason, omission.index))
    for phase in PHASES:
        if score.asked[_ASKED[phase]]:
            _judge(cell, phase, score, items)
    if not cell.samples["fwd"]:
        cell.lower(Finding("fwd", "ORACLE-ERROR", "the database has no samples"))
    for phase in PHASES:
        cell.states.setdefault(phase, "PASS" if cell.samples[phase] else "N/A")
    return cell


def _judge(cell: Cell, phase: str, score: Score, items: dict) -> None:
    asked = _ASKED[phase]
    why = score.unsupported or score.lacking.get(asked, "")
    if score.absent[asked] >= score.asked[asked]:
        return cell.lower(Finding(phase, "MISSING", why))
    if score.absent[asked]:
        cell.notes.append(f"{phase}: {score.absent[asked]} of {score.asked[asked]} samples unsupported: {why}")
    for failure in score.failures:
        item = items.get(failure.index)
        if phase in _phases(failure.property, bool(item and item.expected.raised)):
            code = kind_of(item).script(item, failure) if item else ""
            cell.lower(Finding(phase, "FAIL", failure.reason, failure.index, failure.call, code))
    for excuse, call in score.excuses:
        if phase in _phases(excuse.property):
            cell.lower(Finding(phase, "EXCUSED", f"{excuse.kind}: {excuse.where}", call=call))
    if phase == "fwd" and score.lacking.get("graph"):
        cell.notes.append(f"graph: {score.absent['graph']} samples are not traced: {score.lacking['graph']}")


def _phases(name: str, refused: bool = False) -> tuple:
    """The cells that a broken property of a sample lowers; `refused`: of one that PyTorch refuses. A crash leaves neither direction
    right."""
    if refused or name == "error":
        return ("err",)
    return {"gradient": ("bwd",), "crash": ("fwd", "bwd")}.get(name, ("fwd",))


def totals(cells: list[Cell]) -> dict:
    """How many entries pass everything, and how many cells are in which state, per phase."""
    counts = {phase: {state: 0 for state in reversed(STATES)} for phase in PHASES}
    for cell in cells:
        for phase in PHASES:
            counts[phase][cell.states[phase]] += 1
    return {"ops": len(cells), "all_pass": sum(cell.all_pass for cell in cells), **counts}
