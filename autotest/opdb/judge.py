"""Runs one plan on the subject and scores the op, whatever the subject does meanwhile."""

import time
from dataclasses import replace

from ..cases import render
from ..cases.protocol import UNINITIALISED, Job, Plan, Sample
from ..check import compare
from ..check.referee import Referee
from ..workers.worker import Worker, WorkerLost
from .cell import Cell, Finding


class Judge:
    """Scores ops. `ask` reaches the oracle; `timeout` bounds the subject's seconds per op."""

    def __init__(self, subject: Worker, ask, timeout: float):
        self._subject = subject
        self._ask = ask
        self._timeout = timeout

    def score(self, plan: Plan) -> Cell:
        """The cell of one op."""
        cell = Cell(plan.key.name, plan.key.variant)
        for omission in plan.omissions:
            cell.samples[omission.phase] += 1
            cell.lower(Finding(omission.phase, omission.state, omission.reason, omission.index))
        _Trial(self, plan, cell).run()
        _settle(plan, cell)
        return cell

    def stream(self, job: Job):
        """Yields the subject's messages. Raises WorkerLost on a crash or when time is up."""
        self._subject.send(job)
        left = self._timeout
        while True:
            asked = time.monotonic()
            message = self._subject.receive(max(left, 0.0))
            left -= time.monotonic() - asked  # only the waiting counts, not our own comparing
            if message[0] == "done":
                return
            yield message

    def referee(self, plan: Plan, sample: Sample) -> Referee:
        return Referee(plan, sample, self._ask)


class _Trial:
    """One plan in progress: what is still to run after a crash, and the cell being filled."""

    def __init__(self, judge: Judge, plan: Plan, cell: Cell):
        self._judge = judge
        self._plan = plan
        self._cell = cell
        self._samples = {sample.index: sample for sample in plan.samples}
        self._errors = {sample.index: sample for sample in plan.errors}
        self._todo = [(phase, sample.index) for sample in plan.samples
                      for phase in ("fwd", "bwd") if phase == "fwd" or sample.backward]
        self._todo += [("err", sample.index) for sample in plan.errors]
        for phase, _ in self._todo:
            cell.samples[phase] += 1

    def run(self) -> None:
        """Runs until nothing is left; every loss of the subject settles at least one phase."""
        while self._todo:
            try:
                for kind, *rest in self._judge.stream(self._job()):
                    if kind == "missing":
                        self._missing(*rest)
                    else:
                        self._judge_one(kind, *rest)
                        self._todo.remove((kind, rest[0]))
                assert not self._todo, "the subject skipped calls it was asked to make"
            except WorkerLost as lost:
                self._blame(str(lost))

    def _job(self) -> Job:
        backward = {index for phase, index in self._todo if phase == "bwd"}
        samples = [(index, self._samples[index].case, index in backward)
                   for phase, index in self._todo if phase == "fwd"]
        errors = [(index, self._errors[index].case) for phase, index in self._todo if phase == "err"]
        return Job(self._plan.target, samples, errors, self._plan.key.name in UNINITIALISED)

    def _blame(self, how: str) -> None:
        """Charges the call that was running, and gives the rest of its phase up."""
        phase, index = self._todo[0]
        self._note(phase, index, f"the subject {how}")
        lost = {"fwd": {"fwd", "bwd"}, "bwd": {"bwd"}, "err": {"err"}}[phase]
        if phase == "fwd" and any(p == "bwd" for p, _ in self._todo):
            self._note("bwd", index, f"the subject {how} in forward")
        self._todo = [item for item in self._todo if item[0] not in lost]

    def _missing(self, reason: str) -> None:
        for phase in {phase for phase, _ in self._todo} | {o.phase for o in self._plan.omissions}:
            self._cell.lower(Finding(phase, "MISSING", reason))
        self._todo = []

    def _judge_one(self, phase: str, index: int, outcome) -> None:
        if phase == "err":
            wrong = compare.error(self._errors[index], outcome)
        else:
            referee = self._judge.referee(self._plan, self._samples[index])
            check = compare.forward if phase == "fwd" else compare.backward
            wrong = check(self._samples[index], outcome, referee)
            if referee.used_default:
                self._cell.notes.append(f"{phase} judged by assert_close's tolerance: no double-precision run")
        if wrong:
            self._note(phase, index, wrong)

    def _note(self, phase: str, index: int, reason: str) -> None:
        case = (self._errors if phase == "err" else self._samples)[index].case
        finding = Finding(phase, "FAIL", reason, index)
        if self._cell.failures[phase] < Cell.KEEP:
            label = self._plan.target.label
            finding = replace(finding, call=render.call(label, case), code=render.code(label, case))
        self._cell.lower(finding)


def _settle(plan: Plan, cell: Cell) -> None:
    """Gives phases that no sample lowered their state."""
    if not cell.samples["fwd"]:
        cell.lower(Finding("fwd", "ORACLE-ERROR", "the op database has no samples"))
    cell.states.setdefault("fwd", "PASS")
    cell.states.setdefault("bwd", "PASS" if cell.samples["bwd"] else "N/A")
    cell.states.setdefault("err", "PASS" if cell.samples["err"] else "N/A")
