"""Runs generated cases on a subject and scores every overload, whatever oracle and subject do meanwhile."""

import pickle
import threading
import time
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from ..cases.values import Raised
from ..check.properties import PROPERTIES, Fault
from ..kinds import kind_of
from ..opdb.run import UsageError
from ..workers.lanes import share
from ..workers.worker import Worker, WorkerLost

#: From bad to good; the state of a cell is the worst of its cases.
STATES = ("FAIL", "LENIENT", "UNSUPPORTED", "ORACLE-LIMIT", "UNTESTED", "PASS")


@dataclass(frozen=True)
class Settings:
    """One campaign. `cases` are made per overload and dtype; `ops` are overload names or their part before the dot."""

    subject: str = "weir"
    dtypes: tuple = ("float32", "int64")
    ops: tuple = ()
    cases: int = 50
    first: int = 0  # index of the first case, so that nightly runs go on where others ended
    jobs: int = 1
    timeout: float = 20.0  # seconds for the cases of one overload and dtype
    memory_gb: int = 4
    environment: dict = field(default_factory=dict)  # of the subject's process, beside the inherited one
    shard: tuple = (0, 1)  # this part of so many: machines that share a campaign by the hash of its rows


@dataclass(frozen=True)
class Failure:
    """A case that failed: which, how, and the call as text."""

    overload: str
    dtype: str
    index: int
    property: str
    reason: str
    call: str
    choices: tuple = ()
    lenient: bool = False


@dataclass
class Score:
    """One overload in one dtype: how often each property was asked, and what broke."""

    overload: str
    path: str
    dtype: str
    made: int = 0
    valid: int = 0
    cases: int = 0
    asked: Counter = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    failed: Counter = field(default_factory=Counter)
    lenient: Counter = field(default_factory=Counter)
    unsupported: str = ""
    lacking: dict = field(default_factory=dict)  # why, by property that the subject does not claim to have
    oracle_limit: str = ""
    known: bool = False  # what fails here has failed before: no fresh process is asked

    KEEP = 4  # failures kept per property

    def states(self) -> dict:
        """The state of every property."""
        return {name: self._state(name) for name in PROPERTIES}

    def _state(self, name: str) -> str:
        if self.failed[name]:
            return "FAIL"
        if name in self.lacking:
            return "UNSUPPORTED"
        if self.unsupported and name != "crash":
            return "UNSUPPORTED" if self.asked[name] else "UNTESTED"
        if self.lenient[name]:
            return "LENIENT"
        if name == "crash":
            return "PASS" if self.cases else "UNTESTED"
        if self.oracle_limit and not self.valid:
            return "ORACLE-LIMIT"
        return "PASS" if self.asked[name] else "UNTESTED"

    def add(self, failure: Failure) -> None:
        """Counts a failure; the first few of each property are kept."""
        counter = self.lenient if failure.lenient else self.failed
        counter[failure.property] += 1
        if counter[failure.property] <= self.KEEP:
            self.failures.append(failure)


@dataclass
class Campaign:
    """A finished campaign."""

    settings: Settings
    subject_version: str
    oracle_version: str
    scores: list[Score]
    seconds: float
    started: str = field(default_factory=lambda: datetime.now(timezone.utc).isoformat(timespec="seconds"))


class Lane:
    """One oracle and one subject. While the subject runs one batch, the oracle writes the next."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self.oracle = Worker("generate.service", [str(settings.memory_gb)])
        self.subject = Worker("workers.subject", [settings.subject, str(settings.memory_gb)], environment=settings.environment)
        self._lock = threading.Lock()

    def ask(self, *message, timeout: float | None = None):
        """Asks the oracle. Raises WorkerLost if it dies or hangs, or reports its own failure as one."""
        with self._lock:
            self.oracle.send(message)
            answer = self.oracle.receive(timeout or self._settings.timeout)
        if isinstance(answer, Raised):
            raise WorkerLost(f"raised {answer}")
        return answer

    def finish(self, written: tuple) -> Score:
        """The score of an overload whose batches are written."""
        score, blobs = written
        for blob in blobs:
            self.judge(score, blob)
        return score

    def killed(self, blob: bytes, mutant: str) -> tuple[int, int]:
        """Of the cases of `blob` that the planted fault changes: how many are noticed, how many there are."""
        noticed = applied = 0
        for item, (faults, got, changed) in zip(pickle.loads(blob), self._observe(blob, mutant)):
            applied += changed
            noticed += changed and any(not fault.absent for fault in self._upheld(item, faults, got))
        return noticed, applied

    def replay(self, name: str, dtype: str, choices: tuple) -> list:
        """Pairs of item and failure of the case that `choices` make; none if it passes."""
        blob = self.ask("replay", name, dtype, choices, timeout=5.0)
        score = Score(name, "", dtype, known=True)
        self.judge(score, blob)
        items = {item.index: item for item in pickle.loads(blob)}
        return [(items[failure.index], failure) for failure in score.failures]

    # The oracle's side.

    def prepare(self, task: tuple) -> tuple[Score, list[bytes]]:
        """The batches of an overload in a dtype, and a score that knows how many calls were made."""
        overload, dtype = task
        score = Score(overload.name, overload.path, dtype)
        if overload.backend:
            score.oracle_limit = "needs a backend or layout that the CPU oracle lacks"
            return score, []
        first = self._settings.first
        indices = list(range(first, first + self._settings.cases))
        return score, self._batches(score, indices)

    def _batches(self, score: Score, indices: list[int]) -> list[bytes]:
        """The batch of `indices`; where the oracle dies on it, those calls it survives one by one."""
        try:
            return [self._batch(score, indices)]
        except WorkerLost as lost:
            score.oracle_limit = f"the oracle {lost}"
        blobs, losses = [], 0
        for index in indices:
            try:
                blobs.append(self._batch(score, [index], timeout=3.0))
            except WorkerLost:
                losses += 1
            if losses == 3:
                break
        return blobs

    def _batch(self, score: Score, indices: list[int], timeout: float | None = None) -> bytes:
        blob, made, valid, asked = self.ask("batch", score.overload, score.dtype, indices, timeout=timeout)
        score.made += made
        score.valid += valid
        score.asked.update(asked)
        return blob

    # The subject's side.

    def judge(self, score: Score, blob: bytes) -> None:
        try:
            self._settle(score, blob, self._observe(blob))
        except WorkerLost as lost:
            items = pickle.loads(blob)
            if len(items) == 1:
                return self._crashed(score, items[0], lost)
            for item in items:
                if score.failed["crash"] < Score.KEEP:
                    self.judge(score, pickle.dumps([item]))

    def _crashed(self, score: Score, item, lost: WorkerLost) -> None:
        """Charges a crash, unless the oracle may die of the same call, as where it corrupts memory."""
        if self._oracle_wavers(item):
            score.oracle_limit = "the oracle does not repeat its own answer"
        else:
            self._fail(score, item, Fault("crash", f"the subject {lost}"))

    def _observe(self, blob: bytes, mutant: str = "") -> list:
        self.subject.send(("judge", blob, mutant))
        return self.subject.receive(self._settings.timeout)

    def _settle(self, score: Score, blob: bytes, answers: list) -> None:
        """`answers`: per item its faults, the observation where numbers are in dispute, and a flag of mutation."""
        score.cases += len(answers)
        wrong = [(i, faults, got) for i, (faults, got, _) in enumerate(answers) if faults]
        items = pickle.loads(blob) if wrong else []
        for i, faults, got in wrong:
            upheld = self._upheld(items[i], faults, got)
            if any(not fault.absent for fault in upheld) and self._oracle_wavers(items[i]):
                score.oracle_limit = "the oracle does not repeat its own answer"
                continue
            for fault in self._steady(score, items[i], self._blamed(items[i], upheld)):
                self._fail(score, items[i], fault)

    def _blamed(self, item, faults: list[Fault]) -> list[Fault]:
        """Charges wrong numbers to the layout where the same call on row-major inputs is right."""
        numbers, plain = {"value", "gradient", "gradgrad"}, kind_of(item).plain(item)
        if plain is None or not any(fault.property in numbers for fault in faults):
            return faults
        try:
            twin = self.ask("expect", item.target, plain)
            (found, got, _), = self._observe(pickle.dumps([twin]))
            still = {fault.property for fault in self._upheld(twin, found, got)}
        except WorkerLost:
            return faults
        return [replace(fault, property="layout") if fault.property in numbers - still else fault for fault in faults]

    def _steady(self, score: Score, item, faults: list[Fault]) -> list[Fault]:
        """Charges to determinism what a fresh process of the subject does not repeat. Asked of the first failure of a row,
        since some subjects take seconds to start."""
        if score.known or score.failed or all(fault.lenient or fault.absent for fault in faults):
            return faults
        self.subject.stop()
        try:
            (found, got, _), = self._observe(pickle.dumps([item]))
            again = bool(self._upheld(item, found, got))
        except WorkerLost:
            again = True
        return faults if again else [replace(fault, property="determinism", reason=f"not in every process: {fault.reason}")
                                     for fault in faults]

    def _oracle_wavers(self, item) -> bool:
        """Whether PyTorch answers the same call differently each time, as it does where it reads unset memory."""
        try:
            return self.ask("wavers", item)
        except WorkerLost:
            return True

    def _upheld(self, item, faults: list[Fault], got) -> list[Fault]:
        if not any(fault.phase for fault in faults):
            return faults
        try:
            reruns = self.ask("rerun", item)
        except WorkerLost:
            reruns = []
        return [fault for fault in faults if not fault.phase or not kind_of(item).granted(fault, item, got, reruns)]

    def _fail(self, score: Score, item, fault: Fault) -> None:
        if fault.property == "unsupported":
            score.unsupported = score.unsupported or fault.reason
            return
        if fault.absent:
            score.lacking.setdefault(fault.property, fault.reason)
            return
        score.add(Failure(score.overload, score.dtype, item.index, fault.property, fault.reason, kind_of(item).call(item),
                          item.choices, fault.lenient))

    def stop(self) -> None:
        self.oracle.stop()
        self.subject.stop()


def run(settings: Settings, on_start=lambda count: None, on_score=lambda score: None) -> Campaign:
    """Runs the campaign. Raises UsageError if it cannot start."""
    lanes = [Lane(settings) for _ in range(max(settings.jobs, 1))]
    started = time.monotonic()
    try:
        state, version = lanes[0].subject.start()
        if state != "ready":
            raise UsageError(f"cannot import {settings.subject}: {version}")
        oracle_version = lanes[0].oracle.start()[1]
        universe = lanes[0].ask("universe", timeout=120.0)
        tasks = tasks_of(universe, settings)
        on_start(len(tasks))
        scores = share(lanes, tasks, on_score)
        return Campaign(settings, version, oracle_version, scores, time.monotonic() - started)
    except WorkerLost as lost:
        raise UsageError(f"a worker did not start: {lost}") from None
    finally:
        for lane in lanes:
            lane.stop()


def tasks_of(universe: list, settings: Settings) -> list[tuple]:
    """The pairs of overload and dtype that `settings` ask for, of its shard. Raises UsageError for unknown names."""
    return [(overload, dtype) for overload in select(universe, settings.ops) for dtype in settings.dtypes
            if overload.takes(dtype) and in_shard(f"{overload.name} {dtype}", settings.shard)]


def select(universe: list, wanted: tuple) -> list:
    """The overloads of `universe` that `wanted` names or whose family it names, all for none.

    Raises UsageError for unknown names.
    """
    unknown = set(wanted) - {name for o in universe for name in _names(o)}
    if unknown:
        raise UsageError(f"not a public operation of the oracle: {', '.join(sorted(unknown))}")
    return [o for o in universe if not wanted or _names(o) & set(wanted)]


def _names(overload) -> set:
    """What users may call an overload."""
    return {overload.name, overload.operation, overload.path, overload.family} - {""}


def in_shard(row: str, shard: tuple) -> bool:
    """Whether this part of a campaign takes `row`; the hash spreads slow rows as well as quick ones."""
    part, parts = shard
    return zlib.crc32(row.encode()) % parts == part
