"""Lists of cases that take minutes to make: PyTorch's op database entry by entry, each in a child process, as many at once as there are
cores. What an entry gave is kept at once, so a list that was cut off goes on where it stood. The driver of a session never imports
PyTorch, so a list is made by a process of its own, `python -m weir_bench.<module> FILE`.
"""

import json
import multiprocessing
import os
import resource
import subprocess
import sys
import time
import warnings
from itertools import islice
from multiprocessing.connection import wait
from pathlib import Path

PATIENCE_S = 20  # for all samples of an op
MEMORY = 3 << 30  # bytes of a child; what needs more, as the outer product of two large vectors, raises and is left out
MOST_CHILDREN = 4  # whose memory most machines have


def kept(module: str, *sources: str) -> list[dict]:
    """The cases that `weir_bench.<module>` writes, made anew for another PyTorch or when one of the source files has changed."""
    from importlib.metadata import version

    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "weir"
    file = folder / f"{module}-{version('torch')}-{_hash_of([*sources, __file__])}.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"making the list of cases {file.name}, once; some minutes", file=sys.stderr)
        subprocess.run([sys.executable, "-m", f"weir_bench.{module}", file], check=True)
    return json.loads(file.read_text())["cases"]


def _hash_of(sources) -> str:
    from weir_reports.hashing import digest
    return digest([Path(source).read_text() for source in sources])[:8]


def write(file: str, cases_of) -> None:
    """Writes the cases that `cases_of(torch, op)` yields for the entries of the database, and in words why other entries have none."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    begun = Path(f"{file}.part")
    done = _read(begun)
    works = {number: lambda op=op: cases_of(torch, op) for number, op in enumerate(op_db) if number not in done}
    with begun.open("a") as lines:
        for number, cases, reason in in_children(works, min(MOST_CHILDREN, len(os.sched_getaffinity(0)))):
            lines.write(json.dumps([number, cases, reason]) + "\n")
            lines.flush()
            done[number] = cases, reason
            print(f"\r{len(done)} of {len(op_db)} entries", end="", file=sys.stderr, flush=True)
    found = [case for number in range(len(op_db)) for case in done[number][0]]
    left_out = {label(op): done[number][1] for number, op in enumerate(op_db) if not done[number][0]}
    Path(file).write_text(json.dumps({"cases": found, "left_out": left_out}) + "\n")
    begun.unlink()
    print(f"\n{len(found)} cases of {len({c['op'] for c in found})} ops; {len(left_out)} entries of the database have none", file=sys.stderr)


def label(op) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def _read(begun: Path) -> dict:
    """What a list that was cut off had: (cases, why no more) by the entry's number. A last line that is not whole is cut away."""
    text = begun.read_text() if begun.exists() else ""
    whole = text[:text.rfind("\n") + 1]
    if whole != text:
        begun.write_text(whole)
    return {number: (cases, reason) for number, cases, reason in map(json.loads, whole.splitlines())}


class _Child:
    """A work in a process of its own: what it yielded so far, and in words why it yields no more."""

    def __init__(self, key, work):
        context = multiprocessing.get_context("fork")
        self.key, self.found, self.reason, self.end = key, [], None, time.monotonic() + PATIENCE_S
        self.receiver, sender = context.Pipe(duplex=False)

        def run():
            try:
                for item in work():
                    sender.send(item)
            except Exception as error:  # whatever the database does is a reason to go on without the op
                sender.send(f"{type(error).__name__}: {error}"[:200])

        self.process = context.Process(target=run)
        self.process.start()
        sender.close()

    def read(self) -> None:
        try:
            item = self.receiver.recv()
            if isinstance(item, str):
                self.reason = item
            else:
                self.found.append(item)
        except EOFError:
            self.reason = "ended its process"

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.receiver.close()


def in_children(works: dict, at_once: int):
    """Yields (key, what that work yielded until it ended, why it yielded no more) in the order they end: a sample may hang, die or take
    all memory."""
    waiting, running = iter(works.items()), {}
    try:
        while True:
            for key, work in islice(waiting, at_once - len(running)):
                child = _Child(key, work)
                running[child.receiver] = child
            if not running:
                return
            for receiver in wait(running, max(0.0, min(child.end for child in running.values()) - time.monotonic())):
                running[receiver].read()
            for child in [*running.values()]:
                if child.reason is None and time.monotonic() >= child.end:
                    child.reason = f"took more than {PATIENCE_S} s"
                if child.reason is not None:
                    running.pop(child.receiver).stop()
                    yield child.key, child.found, child.reason
    finally:
        for child in running.values():
            child.stop()
