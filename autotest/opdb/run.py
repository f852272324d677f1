"""Asks PyTorch's own databases of operations, modules and optimizers: every sample goes through the lanes of generated calls."""

import pickle
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone

from weir_reports.limits import TimeLimit

from ..campaign import tasks
from ..campaign.lane import HarnessFailed
from ..campaign.lane import Lane as CallLane
from ..campaign.score import Failure, Score
from ..campaign.tasks import UsageError
from ..cases.protocol import OpKey
from ..workers.lanes import share
from ..workers.worker import WorkerLost
from .cell import CHARGED, PHASES, Cell, Finding, settled

_ORACLE_TIMEOUT = 300.0  # seconds for all samples of an entry


@dataclass(frozen=True)
class Settings:
    """A run: which subject, which entries, under which limits."""

    subject: str = "weir"
    dtype: str = "float32"
    ops: tuple = ()  # names, with or without variant; empty: all
    jobs: int = 1
    max_samples: int = 0  # per entry; 0: all
    timeout: float = 60.0  # seconds of the subject per entry
    graph: bool = False  # every sample traced by nn.Graph and compared with eager mode too
    memory_gb: int = 8  # writable memory of the subject; 0: no limit
    shard: tuple = (0, 1)  # as in tasks.Settings
    errors: tuple = ()  # as in tasks.Settings
    tolerances: tuple = ()


@dataclass
class Result:
    """A run: finished, or ended early by its limit or an interrupt."""

    settings: Settings
    subject_version: str
    oracle_version: str
    cells: list[Cell]
    unfinished: int = 0  # entries that were left out
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))


class Lane(CallLane):
    """A lane whose oracle writes the databases' samples."""

    def __init__(self, settings: Settings):
        charged = CHARGED + (("graph",) if settings.graph else ())
        super().__init__(tasks.Settings(settings.subject, (settings.dtype,), timeout=settings.timeout, memory_gb=settings.memory_gb,
                                        properties=charged, errors=settings.errors, tolerances=settings.tolerances))
        self._asked = settings

    def keys(self) -> list[OpKey]:
        """The entries that support the dtype."""
        return self.ask("keys", self._asked.dtype, timeout=_ORACLE_TIMEOUT)

    def prepare(self, key: OpKey) -> Cell | tuple:
        """The samples of an entry, or its cell where the oracle itself does not survive."""
        try:
            blob, count, asked, omissions = self.ask("samples", key, self._asked.dtype, self._asked.max_samples, timeout=_ORACLE_TIMEOUT)
        except (WorkerLost, HarnessFailed) as lost:
            cell = Cell(key.name, key.variant)
            for phase in PHASES:
                cell.lower(Finding(phase, "ORACLE-ERROR", f"the oracle {lost}"))
            return cell
        score = Score(str(key), key.name, self._asked.dtype, made=count, valid=count)
        score.asked.update(asked)
        return key, score, blob, omissions

    def finish(self, prepared: Cell | tuple) -> Cell:
        """The cell of an entry."""
        if isinstance(prepared, Cell):
            return prepared
        key, score, blob, omissions = prepared
        try:
            self.judge(score, blob)
        except HarnessFailed as error:
            score.add(Failure(score.overload, score.dtype, 0, "crash", f"the harness {error}", key.name))
        return settled(key, score, omissions, {item.index: item for item in pickle.loads(blob)} if score.failures else {})

    def _by_layout(self, item, faults: list) -> list:
        return faults  # a sample is right or wrong, whatever its layout


def run(settings: Settings, on_start=lambda count: None, on_cell=lambda cell: None, limit: TimeLimit = TimeLimit()) -> Result:
    """Runs the databases against the subject. Raises UsageError if it cannot start.

    `on_start` hears the number of entries, `on_cell` each cell as it is finished, on any thread.
    """
    try:
        with ExitStack() as stack:
            first = stack.enter_context(Lane(settings))
            state, version = first.subject.start()
            if state != "ready":
                raise UsageError(f"cannot import {settings.subject}: {version}")
            oracle_version = first.oracle.start()[1]
            keys = [key for key in _select(first.keys(), settings.ops) if tasks.in_shard(str(key), settings.shard)]
            on_start(len(keys))
            lanes = [first, *(stack.enter_context(Lane(settings)) for _ in range(min(settings.jobs, len(keys)) - 1))]
            cells = share(lanes, keys, on_cell, limit=limit)
            return Result(settings, version, oracle_version, cells, len(keys) - len(cells))
    except WorkerLost as lost:
        raise UsageError(f"a worker did not start: {lost}") from None


def _select(keys: list[OpKey], wanted: tuple) -> list[OpKey]:
    """The entries that `wanted` names, or whose database it names (`module`, `optimizer`); all for none."""
    unknown = set(wanted) - {key.name for key in keys} - {str(key) for key in keys} - {key.database for key in keys}
    if unknown:
        raise UsageError(f"not in PyTorch's databases for this dtype: {', '.join(sorted(unknown))}")
    return [key for key in keys if not wanted or {key.name, str(key), key.database} & set(wanted)]
