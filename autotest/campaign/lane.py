"""A pair of oracle and subject: has cases written, judges the subject by them, and doubts both before it blames one."""

import pickle
import threading
from dataclasses import replace

from ..cases.values import Raised
from ..check.properties import Fault
from ..kinds import kind_of
from ..workers.worker import Worker, WorkerLost
from .score import Failure, Score
from .tasks import Settings


_NO_ANSWER = "the oracle does not repeat its own answer"


class HarnessFailed(Exception):
    """A worker raised where it should have answered: a fault of the harness, which must not pass for anybody's answer."""


class Lane:
    """One oracle and one subject. While the subject runs one batch, the oracle writes the next."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self.oracle = Worker("generate.service", [str(settings.memory_gb)])
        self.subject = Worker("workers.subject", [settings.subject, str(settings.memory_gb)], environment=settings.environment)
        self._lock = threading.Lock()

    def __enter__(self) -> "Lane":
        self.oracle.launch()
        self.subject.launch()
        return self

    def __exit__(self, *_) -> None:
        self.oracle.stop()
        self.subject.stop()

    def ask(self, *message, timeout: float | None = None):
        """Asks the oracle. Raises WorkerLost if it dies, hangs, or finds no way to make a call; HarnessFailed if its own
        code breaks."""
        with self._lock:
            self.oracle.send(message)
            answer = self.oracle.receive(timeout or self._settings.timeout)
        if isinstance(answer, Raised):
            raise (WorkerLost if "Impossible" in answer.names else HarnessFailed)(f"raised {answer}")
        return answer

    def universe(self) -> list:
        """All overloads the oracle knows."""
        return self.ask("universe", timeout=120.0)

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
        try:
            return score, self._batches(score, indices)
        except HarnessFailed as error:
            score.add(Failure(score.overload, score.dtype, first, "crash", f"the harness {error}", overload.path))
            return score, []

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
        try:
            self._charge(score, item, [Fault("crash", f"the subject {lost}")])
        except HarnessFailed as error:
            self._fail(score, item, Fault("crash", f"the subject {lost}; the harness {error}"))

    def _observe(self, blob: bytes, mutant: str = "") -> list:
        self.subject.send(("judge", blob, mutant))
        return self.subject.receive(self._settings.timeout)

    def _settle(self, score: Score, blob: bytes, answers: list) -> None:
        """`answers`: per item its faults, the observation where numbers are in dispute, and a flag of mutation."""
        score.cases += len(answers)
        wrong = [(i, faults, got) for i, (faults, got, _) in enumerate(answers) if faults]
        items = pickle.loads(blob) if wrong else []
        for i, faults, got in wrong:
            try:
                self._charge(score, items[i], self._upheld(items[i], faults, got))
            except HarnessFailed as error:
                self._fail(score, items[i], Fault("crash", f"the harness {error}"))

    def _charge(self, score: Score, item, faults: list[Fault]) -> None:
        """Charges what was upheld of a case's faults, unless the oracle has no single answer."""
        if any(not fault.absent for fault in faults) and self._oracle_is("wavers", item):
            score.oracle_limit = _NO_ANSWER
            return
        for fault in self._steady(score, item, self._blamed(item, faults)):
            self._fail(score, item, fault)

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
        if again:
            return faults
        if self._oracle_is("restless", item):
            score.oracle_limit = _NO_ANSWER
            return []
        return [replace(fault, property="determinism", reason=f"not in every process: {fault.reason}") for fault in faults]

    def _oracle_is(self, doubt: str, item) -> bool:
        """Whether PyTorch answers the same call differently at times, as it does where it reads unset memory."""
        try:
            return self.ask(doubt, item)
        except WorkerLost:
            return True

    def _upheld(self, item, faults: list[Fault], got) -> list[Fault]:
        if not any(fault.phase for fault in faults):
            return faults
        reruns: list = []
        for more in (False, True):  # a second hearing, and for what that does not settle a third
            try:
                reruns += self.ask("rerun", item, more)
            except WorkerLost:
                reruns = []
            faults = [fault for fault in faults if not fault.phase or not kind_of(item).granted(fault, item, got, reruns)]
            if not reruns or not any(fault.phase for fault in faults):
                break
        return faults

    def _fail(self, score: Score, item, fault: Fault) -> None:
        if fault.property == "unsupported":
            score.unsupported = score.unsupported or fault.reason
            return
        if fault.absent:
            score.lacking.setdefault(fault.property, fault.reason)
            return
        score.add(Failure(score.overload, score.dtype, item.index, fault.property, fault.reason, kind_of(item).call(item),
                          item.choices, fault.lenient))
