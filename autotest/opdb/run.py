"""The driver: feeds ops to oracle and subject workers and collects the cells.

A lane is one oracle and one subject. While the subject runs op k, its oracle prepares op k+1.
"""

import threading
from dataclasses import dataclass, field
from datetime import datetime, timezone

from ..cases.protocol import OpKey, Plan, Reference
from ..cases.values import Raised
from ..workers.lanes import share
from ..workers.worker import Worker, WorkerLost
from .cell import PHASES, Cell, Finding
from .judge import Judge


class UsageError(Exception):
    """The run cannot start as asked; the message tells the user why."""


@dataclass(frozen=True)
class Settings:
    """A run: which subject, which ops, under which limits."""

    subject: str = "weir"
    dtype: str = "float32"
    ops: tuple = ()  # names, with or without variant; empty: all
    jobs: int = 1
    max_samples: int = 0  # per op; 0: all
    timeout: float = 60.0  # seconds of the subject per op
    oracle_timeout: float = 300.0  # seconds of the oracle per request
    graph: bool = False  # every call traced by nn.Graph and compared with eager mode too
    memory_gb: int = 8  # writable memory of the subject; 0: no limit


@dataclass
class Result:
    """A finished run."""

    settings: Settings
    subject_version: str
    oracle_version: str
    cells: list[Cell]
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))


class Lane:
    """One oracle, one subject, and the judge between them."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self.oracle = Worker("workers.oracle", [settings.dtype, str(settings.max_samples)])
        self.subject = Worker("workers.subject", [settings.subject, str(settings.memory_gb), *(["graph"] if settings.graph else [])])
        self._oracle_lock = threading.Lock()  # the prefetching thread and the judge share the oracle
        self._judge = Judge(self.subject, self._adjudicate, settings.timeout)

    def request(self, *message):
        """Asks the oracle. Raises WorkerLost if it dies, hangs, or raises."""
        with self._oracle_lock:
            self.oracle.send(message)
            answer = self.oracle.receive(self._settings.oracle_timeout)
        if isinstance(answer, Raised):
            raise WorkerLost(f"raised {answer}")
        return answer

    def _adjudicate(self, target, case, seed: int) -> Reference:
        try:
            return self.request("adjudicate", target, case, seed)
        except WorkerLost:
            return Reference([], [])  # no reference: the default tolerance decides

    def prepare(self, key: OpKey) -> Plan | Cell:
        """The plan of an op, or its cell where the oracle itself does not survive."""
        try:
            return self.request("prepare", key)
        except WorkerLost as lost:
            cell = Cell(key.name, key.variant)
            for phase in PHASES:
                cell.lower(Finding(phase, "ORACLE-ERROR", f"the oracle {lost}"))
            return cell

    def finish(self, plan: Plan | Cell) -> Cell:
        """The cell of a prepared op."""
        return plan if isinstance(plan, Cell) else self._judge.score(plan)

    def launch(self) -> None:
        """Starts both processes, without waiting for what they import."""
        self.oracle.launch()
        self.subject.launch()

    def stop(self) -> None:
        self.oracle.stop()
        self.subject.stop()


def run(settings: Settings, on_start=lambda count: None, on_cell=lambda cell: None) -> Result:
    """Runs the op database against the subject. Raises UsageError if it cannot start.

    `on_start` hears the number of ops, `on_cell` each cell as it is finished, on any thread.
    """
    lanes = [Lane(settings) for _ in range(max(settings.jobs, 1))]
    try:
        for lane in lanes:
            lane.launch()
        subject_version = _check_subject(lanes[0], settings)
        oracle_version = lanes[0].oracle.start()[1]
        keys = _select(lanes[0].request("list"), settings.ops)
        on_start(len(keys))
        result = Result(settings, subject_version, oracle_version, [])
        result.cells = share(lanes, keys, on_cell)
        return result
    except WorkerLost as lost:
        raise UsageError(f"a worker did not start: {lost}") from None
    finally:
        for lane in lanes:
            lane.stop()


def _check_subject(lane: Lane, settings: Settings) -> str:
    state, text = lane.subject.start()
    if state != "ready":
        raise UsageError(f"cannot import {settings.subject}: {text}")
    return text


def _select(keys: list[OpKey], wanted: tuple) -> list[OpKey]:
    unknown = set(wanted) - {key.name for key in keys} - {str(key) for key in keys}
    if unknown:
        raise UsageError(f"not in the op database for this dtype: {', '.join(sorted(unknown))}")
    return [key for key in keys if not wanted or key.name in wanted or str(key) in wanted]
