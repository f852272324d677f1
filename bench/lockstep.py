"""The lockstep session: two frameworks and a calibration worker take turns, so that drift hits all alike.

Every launch starts all workers afresh, because memory layout and start-up differ from process to process and decide
more than the noise inside one. Within a launch, a case's rounds alternate which side goes first (ABBA).
"""

import random
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from weir_reports.limits import TimeLimit
from weir_reports.provenance import machine
from weir_reports.records import new_run, seal

from . import answers as answering
from . import calib
from .case import case_id, display_name
from .inputs import write_inputs
from .process import Missing, Refused, Worker, WorkerDied
from .sides import Side

# A single-threaded block whose CPU time is not its wall time was interrupted; more CPU than declared is cheating.
AUDIT = 0.05
# Idle OpenMP threads spin for a while after a parallel region and would take the other side's second core.
SETTLE_S = 0.005


LEAST_ROUNDS = 4  # of a case whose one call is longer than a block
SLACK = 1.15  # how much longer the launches after the first may take than it says
MOST_OF_LIMIT = 0.05  # what the rounds of a case may take of the time that a limit leaves


@dataclass(frozen=True)
class Plan:
    """The budget of a session. A case takes about launches * rounds * 2.5 * block_ms, and the workers' starts.

    Blocks are short, and many: a machine shared with others changes its speed within tens of milliseconds, and only what runs close together
    runs at one speed. A case whose calls are longer than a block gets as many rounds fewer, but `LEAST_ROUNDS`.
    """

    launches: int = 10
    rounds: int = 20
    block_ms: float = 1.0
    threads: int = 1
    seed: int = 0


class Session:
    """Runs `cases` for a subject and a peer (module names) and gathers the raw record."""

    def __init__(self, subject: str | Side, peer: str | Side, cases: list[dict], plan: Plan, progress=lambda text: None,
                 calibrate: bool = True, limit: TimeLimit = TimeLimit()):
        """A side is a module of this environment by its name, or a `Side`. Without `calibrate` no round is held against the
        machine's own speed, and both sides run a block the same number of times: they are builds of one framework. With a limit as many
        cases are timed as have time for all launches, by what the first takes, and none that would take the time of many."""
        self.sides = {role: side if isinstance(side, Side) else Side(side, side) for role, side in (("subject", subject), ("peer", peer))}
        self.calibrate, self.limit = calibrate, limit
        self.cases, self.plan, self.progress = cases, plan, progress
        self.random = random.Random(plan.seed)
        self.entries = {case_id(c): {"case_id": case_id(c), "case": c, "state": "OK", "reason": None, "samples": []}
                        for c in cases}
        self.caches = machine()["caches"]
        self.iters: dict[tuple[str, str], int] = {}
        self.block_ns: dict[tuple[str, str], float] = {}  # what a block takes of those iterations
        self.again = 0.0  # seconds that another launch takes, of the cases begun so far
        self.workers: dict[str, Worker] = {}
        self.versions: dict[str, dict] = {}

    def run(self) -> dict:
        """Runs every launch and returns the sealed `weir.bench/v1` record."""
        record = new_run("weir.bench/v1")
        memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
        with tempfile.TemporaryDirectory(prefix="weir-bench-", dir=memory) as folder:
            self.folder = Path(folder)
            self.library = calib.compile_kernels(self.folder) if self.calibrate else ""
            try:
                for launch in range(self.plan.launches):
                    if self.limit.allows():
                        self._launch(launch)
            except KeyboardInterrupt:  # of a person, or of a time limit: what was measured is kept
                if not any(entry["samples"] for entry in self.entries.values()):
                    raise
            finally:
                self._stop(*list(self.workers))
        entries = [entry for entry in self.entries.values() if entry["samples"] or entry["state"] != "OK"]
        named = {role: {"name": side.label, "version": self.versions[role]["version"]} for role, side in self.sides.items()}
        return seal({**record, **named, "cases": entries, "plan": {
            **asdict(self.plan), "cases": list(self.entries), "sides": {role: side.as_dict() for role, side in self.sides.items()}}})

    def _launch(self, launch: int) -> None:
        roles = ["subject", "peer"] + ["calib"] * self.calibrate
        began = time.monotonic()
        self._start(*self.random.sample(roles, len(roles)))
        self.again = self.again or time.monotonic() - began
        for key in self.random.sample(list(self.entries), len(self.entries)):
            entry = self.entries[key]
            if not (entry["samples"] and self.limit.allows() if launch else self.limit.allows(SLACK * (self.plan.launches - 1) * self.again)):
                continue  # there was or is no time for it
            self.progress(f"launch {launch + 1}/{self.plan.launches}  {display_name(entry['case'])}")
            if entry["state"] == "OK":
                self._guarded(entry, launch)
        self._stop(*list(self.workers))

    def _guarded(self, entry: dict, launch: int) -> None:
        """Runs one case in one launch; an exception of either framework becomes the case's state."""
        try:
            self._case(entry, launch)
        except _Failure as failure:
            entry.update(state=failure.state, reason=failure.reason, samples=[])

    def _case(self, entry: dict, launch: int) -> None:
        case = entry["case"]
        if launch == 0:
            self._check(entry)
        began = time.monotonic()
        write_inputs(case, self.folder, seed=int(entry["case_id"][:8], 16))
        order = self.random.sample(["subject", "peer"], 2)
        for role in order:
            self._ask(role, "load", case=case, folder=str(self.folder))
            self._warm_up(role, entry["case_id"])
        if not self.calibrate:
            alike = min(self.iters[role, entry["case_id"]] for role in order)
            self.iters.update({(role, entry["case_id"]): alike for role in order})
        rounds = self._rounds(entry["case_id"])
        if launch == 0 and not self.limit.allows(self.plan.launches * rounds * self._round_s(entry["case_id"]) / MOST_OF_LIMIT):
            return
        for r in range(rounds):
            first = order[(r + 1) // 2 % 2]  # A B, B A, B A, A B: each side leads as often as the other
            entry["samples"].append(self._round(entry, launch, r, first))
        if launch == 0:
            self.again += time.monotonic() - began

    def _round_s(self, key: str) -> float:
        return sum(self.block_ns[role, key] for role in self.sides) / 1e9

    def _rounds(self, key: str) -> int:
        longest = max(self.block_ns[role, key] for role in self.sides)
        return min(self.plan.rounds, max(LEAST_ROUNDS, round(self.plan.rounds * self.plan.block_ms * 2e6 / longest)))

    def _check(self, entry: dict) -> None:
        """Raises _Failure unless the subject's outputs are the peer's, or as near as those to the peer's own in double precision. The
        peer is asked first: it is the oracle."""
        case, answers = entry["case"], {}
        write_inputs(case, self.folder, seed=int(entry["case_id"][:8], 16))
        for role in ("peer", "subject"):
            self._ask(role, "load", case=case, folder=str(self.folder))
            answers[role] = self._ask(role, "check", file=str(self.folder / f"{role}.npz"))
        reason = answering.difference(answers["peer"], answers["subject"], self.folder / "peer.npz",
                                    self.folder / "subject.npz", case["check"] == "values" and case["op"] not in answering.FREE)
        if reason is not None and not self._near_truth(case, answers):
            raise _Failure("WRONG", reason)

    def _near_truth(self, case: dict, answers: dict) -> bool:
        """Whether answers that differ are rounded in two ways: see `answers.near_truth`."""
        if answers["peer"] != answers["subject"]:
            return False  # not in dtypes or shapes
        try:
            self._ask("peer", "load", case=case, folder=str(self.folder), precise=True)
            self._ask("peer", "check", file=str(self.folder / "truth.npz"))
        except _Failure:  # no double precision to ask: the answers stay different
            return False
        return answering.near_truth(answers["peer"]["outputs"], *(self.folder / f"{name}.npz" for name in ("peer", "subject", "truth")))

    def _warm_up(self, role: str, key: str) -> None:
        """Finds the iterations of a block in the first launch; later ones keep them and only warm the caches."""
        if (role, key) in self.iters:
            self._ask(role, "run", iters=max(1, self.iters[role, key] // 2))
            return
        target, iters = self.plan.block_ms * 1e6, 1
        while (wall := self._ask(role, "run", iters=iters)["wall_ns"]) < target / 4:
            iters *= 4
        if wall < 4 * target:  # else it is one call, however long
            wall = min(wall, self._ask(role, "run", iters=iters)["wall_ns"])
        self.iters[role, key] = max(1, round(iters * target / wall))
        self.block_ns[role, key] = self.iters[role, key] * wall / iters

    def _round(self, entry: dict, launch: int, number: int, first: str) -> dict:
        second = "peer" if first == "subject" else "subject"
        sample = {"launch": launch, "round": number, "first": first}
        for role in (first, second):
            if self.plan.threads > 1:
                time.sleep(SETTLE_S)
            sample[role] = self._ask(role, "run", iters=self.iters[role, entry["case_id"]])
        names = calib.kernels_for(entry["case"], self.caches) if self.calibrate else ()
        sample["calib"] = {n: self._ask("calib", "kernel", name=n, block_ms=self.plan.block_ms / 2) for n in names}
        return {**sample, "void": void_reason(sample, self.plan.threads)}

    def _ask(self, role: str, do: str, **arguments) -> dict:
        try:
            return self.workers[role].ask(do, **arguments)
        except Missing as error:
            raise _Failure("MISSING" if role == "subject" else "PEER-ERROR", str(error)) from None
        except (Refused, WorkerDied) as error:
            if isinstance(error, WorkerDied):
                self._stop(role)
                self._start(role)
            raise _Failure("PEER-ERROR" if role == "peer" else "ERROR", f"{do}: {error}") from None

    def _start(self, *roles: str) -> None:
        """Starts workers in the given order; they import their frameworks at the same time."""
        for role in roles:
            side = self.sides.get(role)
            self.workers[role] = (Worker("weir_bench.worker", side.module, self.plan.threads, side=side) if side
                                  else Worker("weir_bench.calib", self.library, self.plan.threads))
        for role in roles:
            try:
                self.versions[role] = self.workers[role].ask("hello")
            except (Missing, Refused, WorkerDied) as error:
                label = self.sides[role].label if role in self.sides else ""
                raise CannotStart(f"the {role} {label!r} does not start: {error}") from None

    def _stop(self, *roles: str) -> None:
        for role in roles:
            self.workers.pop(role).close()


class CannotStart(RuntimeError):
    """A worker does not start, e.g. because its framework is not installed."""


class _Failure(Exception):
    """A case cannot be timed; carries its state and the reason."""

    def __init__(self, state: str, reason: str):
        super().__init__(state, reason)
        self.state, self.reason = state, reason


def void_reason(sample: dict, threads: int) -> str | None:
    """Returns why a round does not count, or None. One bad side voids both: they were measured together."""
    for role in ("subject", "peer"):
        used = sample[role]["cpu_ns"] / sample[role]["wall_ns"]
        if not 1 - AUDIT <= used <= threads * (1 + AUDIT):
            return f"{role}: cpu/wall {used:.2f} on {threads} thread{'s' if threads > 1 else ''}"
    return None
