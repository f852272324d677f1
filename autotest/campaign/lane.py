"""A pair of oracle and subject: has cases written, judges the subject by them, and doubts both before it charges one."""

import atexit
import json
import pickle
import re
import threading
from dataclasses import replace

from ..cases.values import Raised
from ..check import rounding
from ..check.excuses import Excuse
from ..check.properties import ANYTHING, PROPERTIES, WAYS, Fault, lacks_call
from ..workers.kinds import kind_of
from ..workers.worker import Worker, WorkerLost
from .neighbours import names_another
from .score import Failure, Score
from .tasks import Settings


def _wavers(fault: Fault, wavering: list[Fault]) -> bool:
    """Whether the oracle's own answers differ in what `fault` is about: the same value, or the same property of a call. A subject may refuse
    a call whose value the oracle does not know."""
    if fault.phase == "raised":
        return any(other.phase == "values" or other.property == ANYTHING for other in wavering)
    return any(other.property == ANYTHING or _about(other) == _about(fault) for other in wavering)


def _about(fault: Fault) -> tuple:
    """What a fault is about: numbers, by their place, or a property; of a way of calling, which stands for all properties, the one it names."""
    return fault.property, fault.phase, fault.position, fault.reason.split(":")[0] if fault.property in WAYS and not fault.phase else ""


#: What glibc says of a heap that was written over.
_CORRUPTED = re.compile(r"SIGABRT.*(free\(\)|malloc|corrupt)")
#: What ends a process that reads or writes beside its memory.
_SIGNAL = re.compile("SIGSEGV|SIGBUS")
#: What the subject does beside the call itself, and the properties that need it.
_CHECKS = {"repeat": {"determinism", "random"}, "graph": {"graph"}, "vmap": {"vmap"}, "forward": {"forward"}}


#: Oracles of lanes that have ended. A later lane of this process takes one over, since importing PyTorch takes seconds: an oracle keeps
#: nothing of what it was asked but what makes it quicker.
_idle: list[Worker] = []


def _taken_over(oracle: Worker) -> Worker:
    """An oracle like this one of a lane that has ended, else itself."""
    for worker in _idle:
        if worker.alike(oracle) and worker.idle:
            _idle.remove(worker)
            return worker
    return oracle


@atexit.register
def _end_idle() -> None:
    while _idle:
        _idle.pop().stop()


class HarnessFailed(Exception):
    """A worker raised where it should have answered: a fault of the harness, which must not pass for anybody's answer."""


class Lane:
    """One oracle and one subject. While the subject runs one batch, the oracle writes the next."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self.oracle = Worker("generate.service", [str(settings.memory_gb)])
        wanted = settings.properties or PROPERTIES
        checks = [name for name, needs in _CHECKS.items() if needs & set(wanted)]
        self.subject = Worker("workers.subject", [settings.subject, str(settings.memory_gb), ",".join(checks), json.dumps(settings.errors)],
                              environment=settings.environment)
        self._lock = threading.Lock()

    def __enter__(self) -> "Lane":
        self.oracle = _taken_over(self.oracle)
        self.oracle.launch()
        self.subject.launch()
        return self

    def __exit__(self, *_) -> None:
        if self.oracle.idle:
            _idle.append(self.oracle)
        else:
            self.oracle.stop()
        self.subject.stop()

    def ask(self, *message, timeout: float | None = None):
        """Asks the oracle. Raises WorkerLost if it dies, hangs, or finds no way to make a call; HarnessFailed if its own
        code breaks."""
        with self._lock:
            if message[0] == "batch":
                self.oracle.renew(self._settings.memory_gb << 29)  # half of its limit
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
        """Of the cases of `blob` that the planted fault changes: how many are noticed, how many there are.

        Excuses count as in a run. Whether the oracle wavers is asked until one case is noticed: it takes many runs.
        """
        noticed = applied = 0
        for item, (faults, got, changed) in zip(pickle.loads(blob), self._observe(blob, mutant)):
            changed = changed and not kind_of(item).free(item)
            applied += changed
            charged = changed and [fault for fault in self._after_reruns(item, faults, got)[0] if not fault.absent]
            if charged and not noticed:
                charged = self._doubted(Score("", "", ""), item, charged, "wavers", got)
            noticed += bool(charged)
        return noticed, applied

    def replay(self, name: str, dtype: str, choices: tuple) -> list:
        """Pairs of item and failure of the case that `choices` make; none if it passes."""
        blob = self.ask("replay", name, dtype, choices, timeout=5.0)
        score = Score(name, "", dtype, known=True)
        self.judge(score, blob)
        items = {item.index: item for item in pickle.loads(blob)}
        return [(items[failure.index], failure) for failure in score.failures]

    # The oracle's side.

    def prepare(self, task: tuple, indices=None) -> tuple[Score, list[bytes]]:
        """The batches of an overload in a dtype, of the settings' cases or these, and a score that knows how many calls were made."""
        overload, dtype = task
        score = Score(overload.name, overload.path, dtype)
        if overload.backend:
            score.oracle_limit = "needs a backend or layout that the CPU oracle lacks"
            return score, []
        first = self._settings.first
        asked = list(indices or range(first, first + self._settings.cases))
        try:
            blobs = self._batches(score, asked)
            return score, blobs if indices else blobs + self._reached(score)
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
        return self._count(score, self.ask("batch", score.overload, score.dtype, indices, timeout=timeout))

    def _reached(self, score: Score) -> list[bytes]:
        """A batch of calls for what those so far did not ask for."""
        missing = {name for name in self._settings.properties or PROPERTIES if not score.asked[name]}
        if score.oracle_limit or not missing:
            return []
        try:
            return [self._count(score, self.ask("reach", score.overload, score.dtype, missing))]
        except WorkerLost:
            return []  # a call kills the oracle: what was asked stands

    def _count(self, score: Score, answer: tuple) -> bytes:
        blob, made, valid, asked = answer
        score.made += made
        score.valid += valid
        wanted = self._settings.properties
        score.asked.update({name: count for name, count in asked.items() if not wanted or name in wanted})
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
        self.subject.send((blob, mutant))
        return self.subject.receive(self._settings.timeout)

    def _settle(self, score: Score, blob: bytes, answers: list) -> None:
        """`answers`: per item its faults, the observation where there are any, and a flag of mutation."""
        score.cases += len(answers)
        answers = [([fault for fault in faults if self._wanted(fault)], got) for faults, got, _ in answers]
        wrong = [(i, faults, got) for i, (faults, got) in enumerate(answers) if faults]
        items = pickle.loads(blob) if wrong else []
        for i, faults, got in wrong:
            try:
                left, excuses = self._after_reruns(items[i], faults, got)
                for excuse in excuses:
                    score.excuse(excuse, kind_of(items[i]).call(items[i]))
                self._charge(score, items[i], left, got)
            except HarnessFailed as error:
                self._fail(score, items[i], Fault("crash", f"the harness {error}"))

    def _wanted(self, fault: Fault) -> bool:
        """Whether the settings ask for the property; numbers that are wrong may yet be those of a layout."""
        wanted = self._settings.properties
        return not wanted or fault.property in wanted or fault.property == "unsupported" or (bool(fault.phase) and "layout" in wanted)

    def _charge(self, score: Score, item, faults: list[Fault], got=None) -> None:
        """Charges what reruns left of the faults of `got`, but for what the oracle has no single answer to."""
        if any(not fault.absent for fault in faults):
            faults = self._doubted(score, item, faults, "wavers", got)
        faults = self._first_of_two(score, item, faults)
        for fault in self._steady(score, item, self._by_layout(item, faults)):
            self._fail(score, item, fault)

    def _doubted(self, score: Score, item, faults: list[Fault], doubt: str, *given) -> list[Fault]:
        """The faults less those in what PyTorch answers differently at times, as where it reads unset memory. A doubt that
        cannot be settled, since the oracle dies of it, excuses nothing, unless the allocator ended it: it has written to memory that is not its own."""
        try:
            wavering = self.ask(doubt, item, *given)
        except WorkerLost as lost:
            if not _CORRUPTED.search(str(lost)) and not self._ends_of(item, lost):
                return faults
            wavering = [Fault(ANYTHING, f"the oracle {lost}")]
        certain = [fault for fault in faults if fault.absent or not _wavers(fault, wavering)]
        for fault in faults:
            if fault not in certain:
                score.excuse(Excuse(fault.property, "oracle wavers", fault.reason), kind_of(item).call(item))
        return certain

    def _ends_of(self, item, lost: WorkerLost) -> bool:
        """Whether the oracle, lost to a signal while it was doubted, dies of the call as it is."""
        if not _SIGNAL.search(str(lost)):
            return False
        try:
            self.ask("again", item)
        except WorkerLost as lost:
            return bool(_SIGNAL.search(str(lost)))
        return False

    def _first_of_two(self, score: Score, item, faults: list[Fault]) -> list[Fault]:
        """The faults less those of a call that is wrong in two ways, of which the subject names the other one."""
        other = [fault for fault in faults if names_another(self, (score.overload, score.dtype), item, fault)]
        for fault in other:
            score.excuse(Excuse(fault.property, "wrong twice", fault.reason), kind_of(item).call(item))
        return [fault for fault in faults if fault not in other]

    def faults_of(self, item) -> list[Fault]:
        """What is wrong with the subject's answer to `item` before anything is excused. Raises WorkerLost."""
        (found, _, _), = self._observe(pickle.dumps([item]))
        return found

    def _by_layout(self, item, faults: list[Fault]) -> list[Fault]:
        """Charges wrong numbers to the layout where the same call on row-major inputs is right."""
        numbers = {"value", "gradient", "gradgrad"}
        if not any(fault.property in numbers for fault in faults):
            return faults
        plain = kind_of(item).plain(item)
        if plain is None:
            return faults
        try:
            twin = self.ask("expect", item.target, plain)
            (found, got, _), = self._observe(pickle.dumps([twin]))
            still = {fault.property for fault in self._after_reruns(twin, found, got)[0]}
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
            again = any(not fault.absent for fault in self._after_reruns(item, found, got)[0])
        except WorkerLost:
            again = True
        if again:
            return faults
        faults = self._doubted(score, item, faults, "restless")
        return [fault if fault.absent else replace(fault, property="determinism", reason=f"not in every process: {fault.reason}")
                for fault in faults]

    def _after_reruns(self, item, faults: list[Fault], got) -> tuple[list[Fault], list[Excuse]]:
        """The faults that numbers within tolerance and excuses leave, and the excuses."""
        excuses = [Excuse(fault.property, fault.excuse, fault.reason) for fault in faults if fault.excuse]
        faults = [fault for fault in faults if not fault.excuse]
        if not any(fault.phase for fault in faults):
            return faults, excuses
        reruns: list = []
        for more in (False, True):  # and what those do not settle, by more of them
            try:
                reruns += self.ask("rerun", item, more)
            except WorkerLost:
                reruns = []
            verdicts = [(fault, kind_of(item).excuses_for(fault, item, got, reruns) if fault.phase else None) for fault in faults]
            faults = [fault for fault, kinds in verdicts if kinds is None]
            excuses += [Excuse(fault.property, kind, fault.reason) for fault, kinds in verdicts for kind in sorted(kinds or ())]
            if not reruns or not any(fault.phase for fault in faults):
                break
        agreed = [fault for fault in faults if fault.phase and self._agreed(item, fault, got)]
        excuses += [Excuse(fault.property, "agreed tolerance", fault.reason) for fault in agreed]
        return [fault for fault in faults if fault not in agreed], excuses

    def _agreed(self, item, fault: Fault, got) -> bool:
        """Whether the project's own tolerance for the operation allows the difference."""
        paths = {part for path in getattr(item.target, "paths", ()) for part in (path, path.split(".")[-1])}
        return any(paths & set(t.ops) and rounding.within(fault, item, got, t.rtol, t.atol) for t in self._settings.tolerances)

    def _fail(self, score: Score, item, fault: Fault) -> None:
        if fault.property == "unsupported" or (fault.absent and self._wanted(fault)):
            return score.lacks(fault.property, fault.reason, kind_of(item).asked(item) if lacks_call(fault) else [])
        if not self._wanted(fault):
            return
        score.add(Failure(score.overload, score.dtype, item.index, fault.property, fault.reason, kind_of(item).call(item),
                          item.choices, fault.lenient))
