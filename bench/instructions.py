"""Instructions per call, counted by valgrind's callgrind: a second signal for cases that are all call path.

A count does not hear the machine's neighbours: the same code gives the same number to about a thousandth, on the interpreter's whole
way into the framework and back. It knows nothing of caches, and of vectors only how many there are.
"""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from weir_reports.records import new_run

from .case import case_id, display_name
from .inputs import write_inputs
from .process import Missing, Refused, Worker
from .sides import Side

WARM, CALLS = 30, 100  # calls before counting, and counted


class NoValgrind(RuntimeError):
    """Nothing can be counted here; the message says what to install."""


@dataclass
class Counts:
    """Instructions per call of a side, by case_id, and why others have none."""

    side: Side
    calls: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def count(side: Side, cases: list[dict], progress=lambda text: None) -> Counts:
    """Counts each of `cases` in one process of `side`. Raises NoValgrind, or WorkerDied where the framework does not start."""
    if not (shutil.which("valgrind") and shutil.which("vgdb")):
        raise NoValgrind("no instructions are counted: valgrind is not installed (Debian: valgrind)")
    found = Counts(side)
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        process = _Counting(side, Path(folder))
        try:
            for number, case in enumerate(cases):
                progress(f"{side.label}: {number + 1}/{len(cases)} {case['op']} {case['variant']}")
                key = case_id(case)
                try:
                    found.calls[key] = process.per_call(case)
                except (Missing, Refused) as error:
                    found.reasons[key] = str(error)
        finally:
            process.close()
    return found


def record(before: Counts, after: Counts, cases: list[dict], module: str) -> dict:
    """The record of what two sides need, unsealed."""
    entries = []
    for case in cases:
        key = case_id(case)
        entries.append({"case_id": key, "name": display_name(case), "before": before.calls.get(key), "after": after.calls.get(key),
                        "reason": before.reasons.get(key) or after.reasons.get(key)})
    sides = {name: counts.side.as_dict() for name, counts in (("before", before), ("after", after))}
    return new_run("weir.instructions/v1") | {"subject": {"name": module, "version": None}, **sides, "cases": entries}


class _Counting:
    """A worker under callgrind, which counts only while a case runs."""

    def __init__(self, side: Side, folder: Path):
        self._folder, self._out = folder, folder / "counts"
        wrap = ("valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet", f"--callgrind-out-file={self._out}")
        self._worker = Worker("weir_bench.worker", side.module, 1, timeout=600, side=side, wrap=wrap)
        self._worker.ask("hello")

    def per_call(self, case: dict) -> float:
        """Instructions of one call: of CALLS of them, less those of asking for none."""
        write_inputs(case, self._folder, seed=int(case_id(case)[:8], 16))
        self._worker.ask("load", case=case, folder=str(self._folder))
        self._worker.ask("run", iters=WARM)
        self._tell("instrumentation", "on")
        try:
            self._worker.ask("run", iters=1)
            asking, counted = self._counted(0), self._counted(CALLS)
        finally:
            self._tell("instrumentation", "off")
        return (counted - asking) / CALLS

    def _counted(self, iters: int) -> int:
        for old in self._folder.glob(f"{self._out.name}*"):
            old.unlink()
        self._tell("zero")
        self._worker.ask("run", iters=iters)
        self._tell("dump")
        text = max(self._folder.glob(f"{self._out.name}*"), key=lambda path: path.stat().st_mtime_ns).read_text()
        return int(re.search(r"^(?:totals|summary): (\d+)", text, re.M)[1])

    def _tell(self, *words: str) -> None:
        subprocess.run(["vgdb", f"--pid={self._worker.pid}", *words], check=True, capture_output=True, timeout=120)

    def close(self) -> None:
        self._worker.close()
