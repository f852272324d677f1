"""States and scores: what one op earned, and what a run adds up to."""

from collections import Counter
from dataclasses import dataclass, field

PHASES = ("fwd", "bwd", "err")

#: From bad to good. The state of a cell is the worst state of its samples.
STATES = ("MISSING", "FAIL", "UNMAPPABLE", "ORACLE-ERROR", "N/A", "PASS")

#: N/A: PyTorch itself has no such thing for this op, so nothing is left to be shown.
GOOD = {"PASS", "N/A"}


@dataclass(frozen=True)
class Finding:
    """One sample that did not pass. `call` is a line, `code` a readable reconstruction."""

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
    """The score of one op: a state per phase and the findings behind it."""

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
                counted = self.samples[phase] and self.states[phase] != "MISSING"
                more = f" ({self.failures[phase]} of {self.samples[phase]} samples)" if counted else ""
                lines.append(f"{worst[0]}{more}")
        return "\n".join(lines + sorted(set(self.notes)))


def totals(cells: list[Cell]) -> dict:
    """How many ops pass everything, and how many cells are in which state, per phase."""
    counts = {phase: {state: 0 for state in reversed(STATES)} for phase in PHASES}
    for cell in cells:
        for phase in PHASES:
            counts[phase][cell.states[phase]] += 1
    return {"ops": len(cells), "all_pass": sum(cell.all_pass for cell in cells), **counts}
