"""The subject worker: runs jobs in the framework under test.

Run as `python -m weir_autotest.workers.subject FD MODULE MEMORY_GB [graph]`. Results stream back one phase at a
time, so that after a crash the driver knows which call it was.
"""

import importlib
import json
import pickle
import resource
import sys
import warnings

from ..cases import ship
from ..cases.protocol import Job
from ..cases.values import STANDS_FOR, Outcome, Raised
from ..check.properties import unsupported
from ..kinds import kind_of
from .execute import Execution
from .mutants import Plant
from .traced import TracedExecution
from .worker import connect, rest_collector


class _NoTorch:
    """An import hook that keeps PyTorch out, so that the subject cannot lean on it."""

    def find_spec(self, name, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            raise ImportError(f"{name} may not be imported beside the subject")
        return None


def run(job: Job, W, send, graph: bool = False) -> None:
    """Runs every call of `job` in framework `W`, sending ("missing", reason) if the op is absent."""
    try:
        function = job.target.resolve(W)
    except ship.Unresolved as error:
        return send(("missing", str(error)))
    shipped = job.target.shipped is not None
    for index, case, with_backward in job.samples:
        execution = _execution(W, function, case, job, graph)
        forward = execution.forward()
        if shipped and _lacks_method(forward):
            return send(("missing", forward.raised.message))
        send(("fwd", index, forward))
        if with_backward:
            failed = forward.raised or forward.unmappable
            send(("bwd", index, Outcome(raised=Raised((), "forward failed")) if failed else execution.backward()))
    for index, case in job.errors:
        send(("err", index, _execution(W, function, case, job, graph).forward()))


def _execution(W, function, case, job: Job, graph: bool) -> Execution:
    return TracedExecution(W, function, case, job.uninitialised) if graph else Execution(W, function, case)


def judge(items: list, W, mutant: str = "") -> list:
    """Runs generated cases; per case its faults, what was observed where numbers are in dispute, and whether the
    planted fault `mutant` changed anything."""
    return [_judge(item, W, mutant) for item in items]


def _judge(item, W, mutant: str) -> tuple:
    kind, planted = kind_of(item), Plant(mutant, W)
    try:
        got = kind.observe(W, item, planted) if mutant else kind.observe(W, item)
    except ship.Unresolved as error:
        return [unsupported(str(error), item.case)], None, False
    found = kind.faults(item, got)
    if not found and not mutant:
        found = kind.repeated(W, item, got)
    if not mutant and not any(fault.property == "unsupported" for fault in found):
        found = found + kind.traced(W, item, got)
    return found, got if any(fault.phase for fault in found) else None, planted.applied and mutant not in kind.unseen


def _lacks_method(outcome: Outcome) -> bool:
    """Whether a shipped lambda such as `x.expand(*args)` found no such method."""
    raised = outcome.raised
    return raised is not None and raised.names[0] == "AttributeError" and "has no attribute" in raised.message


def limit_memory(gigabytes: int) -> None:
    """Bounds writable memory, so that a runaway op raises instead of taking the machine with it.

    RLIMIT_DATA rather than RLIMIT_AS: CUDA reserves address space far beyond what it uses.
    """
    if gigabytes > 0:
        resource.setrlimit(resource.RLIMIT_DATA, (gigabytes << 30, gigabytes << 30))


def main(descriptor: str, module: str, gigabytes: str, how: str = "eager", errors: str = "[]") -> None:
    """Imports the subject, then serves jobs until the driver closes the pipe."""
    warnings.simplefilter("ignore")
    connection = connect(descriptor)
    STANDS_FOR.update(json.loads(errors))
    limit_memory(int(gigabytes))
    if module.split(".")[0] != "torch":
        sys.meta_path.insert(0, _NoTorch())
    try:
        W = importlib.import_module(module)
    except Exception as error:
        connection.send(("unavailable", f"{type(error).__name__}: {error}"))
        return
    rest_collector()
    connection.send(("ready", str(getattr(W, "__version__", "unknown"))))
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        if isinstance(job, Job):
            run(job, W, connection.send, how == "graph")
            connection.send(("done",))
        else:
            connection.send(judge(pickle.loads(job[1]), W, *job[2:]))


if __name__ == "__main__":
    main(*sys.argv[1:])
