"""The subject worker: runs cases in the framework under test.

Run as `python -m weir_autotest.workers.subject FD MODULE MEMORY_GB CHECKS ERRORS`.
"""

import importlib
import json
import pickle
import resource
import sys
import warnings

from ..cases import ship
from ..cases.values import STANDS_FOR
from ..check.properties import lacks_call, unsupported
from .kinds import kind_of
from .mutants import Plant
from .worker import connect, rest_collector


class _NoTorch:
    """An import hook that keeps PyTorch out, so that the subject cannot lean on it."""

    def find_spec(self, name, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            raise ImportError(f"{name} may not be imported beside the subject")
        return None


class Judge:
    """Runs cases in framework `W`; `checks` are the costly ones to be made too: "repeat", "graph", "vmap" and "forward"."""

    def __init__(self, W, checks: set):
        self._W, self._checks = W, checks

    def judge(self, items: list, mutant: str = "") -> list:
        """Per case its faults, what was observed where there are any, and whether the planted fault `mutant` changed
        anything."""
        return [self._judge(item, mutant) for item in items]

    def _judge(self, item, mutant: str) -> tuple:
        kind, planted, W = kind_of(item), Plant(mutant, self._W), self._W
        try:
            got = kind.observe(W, item, planted) if mutant else kind.observe(W, item)
        except ship.Unresolved as error:
            return [unsupported(str(error), item.case)], None, False
        if _lacks_method(item, got):
            return [unsupported(got.raised.message, item.case)], None, False
        lacking = _lacks_dtype(item, W)
        if lacking:
            return [unsupported(f"no {lacking}", item.case)], None, False
        found = kind.faults(item, got)
        if not found and not mutant and "repeat" in self._checks:
            found = kind.repeated(W, item, got)
        if not mutant and "graph" in self._checks and not any(map(lacks_call, found)):
            found = found + kind.traced(W, item, got)
        if not mutant and {"vmap", "forward"} & self._checks and not any(map(lacks_call, found)):
            found = found + kind.transformed(W, item, got, self._checks)
        return found, got if found else None, planted.applied and mutant not in kind.unseen


def _lacks_method(item, got) -> bool:
    """Whether a shipped lambda such as `x.expand(*args)` found no such method."""
    raised = got.raised if item.target.shipped is not None else None
    return raised is not None and raised.names[0] == "AttributeError" and "has no attribute" in raised.message


def _lacks_dtype(item, W) -> str:
    """The dtype of a result of PyTorch's that the subject does not have, "" if it has all. A stand-in under its name is none."""
    kind = getattr(W, "dtype", object)
    names = {value.dtype for value in getattr(item.expected, "values", None) or [] if value is not None}
    return next((name for name in sorted(names) if not name.startswith("python ")
                 and (getattr(W, name, None) is None or not isinstance(getattr(W, name), kind))), "")


def limit_memory(gigabytes: int) -> None:
    """Bounds writable memory, so that a runaway op raises instead of taking the machine with it.

    RLIMIT_DATA rather than RLIMIT_AS: CUDA reserves address space far beyond what it uses. A process that holds more already,
    as the shadow memory of a sanitizer, would get nothing at all, and is not bound.
    """
    with open("/proc/self/statm") as held:
        data = int(held.read().split()[5]) * resource.getpagesize()
    if data < gigabytes << 30:
        resource.setrlimit(resource.RLIMIT_DATA, (gigabytes << 30, gigabytes << 30))


def warn_each_time(W) -> None:
    """Has framework `W` say each time what it says once by itself, so that a case does not depend on those before it."""
    if hasattr(W, "set_warn_always"):
        W.set_warn_always(True)


def main(descriptor: str, module: str, gigabytes: str, checks: str = "", errors: str = "[]") -> None:
    """Imports the subject, then judges cases until the driver closes the pipe."""
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
    warn_each_time(W)
    rest_collector()
    connection.send(("ready", str(getattr(W, "__version__", "unknown"))))
    judge = Judge(W, set(checks.split(",")))
    while True:
        try:
            items, mutant = connection.recv()
        except EOFError:
            return
        connection.send(judge.judge(pickle.loads(items), mutant))


if __name__ == "__main__":
    main(*sys.argv[1:])
