"""Runs programs written for PyTorch under weir and under PyTorch, in turn: do both print the same, in what time and memory?"""

import json
import math
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from weir_reports.hashing import digest
from weir_reports.records import new_run
from weir_reports.workers import worker_environment

from .runner import cores

SIDES = {"subject": ("-m", "weir"), "peer": ()}  # how Python is told to run a program
MEASURED, BEGUN = (str(Path(__file__).with_name(name)) for name in ("measured.py", "begun.py"))
TIMEOUT_S = 600
TOLERANCES = "tolerances.json"  # beside the programs: {"name": [rtol, atol]}
USUAL = (5e-3, 2e-3)  # sums in another order, amplified by some steps of training
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|nan|inf)")


@dataclass(frozen=True)
class Program:
    """A program, and by how much the numbers that it prints may differ."""

    path: Path
    rtol: float
    atol: float


@dataclass(frozen=True)
class Run:
    """A process that has ended. Its costs are seconds of the clock, for a process that runs the program once (`seconds`) and for running it once more
    (`work`, None where that was not asked for or fails), and of the processor (`cpu`), and the largest resident size in bytes (`rss`)."""

    printed: str
    costs: dict
    failed: str | None


@dataclass
class Found:
    """What the rounds of a program came to: `reason` says how the two differ, None where they print the same."""

    program: Program
    reason: str | None = None
    rounds: list[dict] = field(default_factory=list)


def find(paths: list[Path]) -> list[Program]:
    """The programs at `paths`: files, or all Python files of a folder but its tests. Raises ValueError where there are none."""
    found = []
    for path in paths:
        files = sorted(p for p in path.glob("*.py") if not p.stem.startswith("test_") and p.stem != "conftest") if path.is_dir() else [path]
        if not files or not all(p.is_file() for p in files):
            raise ValueError(f"expected a Python file, or a folder of them, got {path}")
        allowed = files[0].parent / TOLERANCES
        allowed = json.loads(allowed.read_text()) if allowed.exists() else {}
        found += [Program(p, *allowed.get(p.stem, USUAL)) for p in files]
    return found


def compare(programs: list[Program], rounds: int, threads: int, seed: int = 1, progress=lambda text: None, timeout: float = TIMEOUT_S) -> list[Found]:
    """Every program under both, `rounds` times, the two in random order.

    A program that has differed is not run again. An interrupt ends it early: what was run is kept, if there is anything.
    """
    chance, found = random.Random(seed), [Found(program) for program in programs]
    try:
        for number in range(rounds):
            for one in found:
                if one.reason is None:
                    progress(f"round {number + 1} of {rounds}: {one.program.path.stem}")
                    _round(one, chance, threads, timeout)
    except KeyboardInterrupt:
        found = [one for one in found if one.rounds or one.reason]
        if not found:
            raise
    return found


def _round(found: Found, chance: random.Random, threads: int, timeout: float) -> None:
    runs = {side: run(found.program.path, side, threads, timeout, times=2) for side in chance.sample(list(SIDES), len(SIDES))}
    failed = [f"{'PyTorch' if side == 'peer' else 'weir'}: {runs[side].failed}" for side in SIDES if runs[side].failed]
    found.reason = "; ".join(failed) or difference(runs["subject"].printed, runs["peer"].printed, found.program)
    if not failed:
        found.rounds.append({side: runs[side].costs for side in SIDES})


def run(program: Path, side: str, threads: int, timeout: float = TIMEOUT_S, times: int = 1) -> Run:
    """Once, or twice, in a process of its own, on as many cores as threads."""
    with tempfile.TemporaryDirectory(prefix="weir-run-") as folder, open(f"{folder}/out", "w+b") as out, open(f"{folder}/errors", "w+b") as errors:
        result, notes = Path(folder) / "result.json", Path(folder) / "notes"
        command = [sys.executable, "-I", "-S", MEASURED, str(result), str(timeout), ",".join(map(str, cores(threads))),
                   sys.executable, *SIDES[side], BEGUN, str(notes), str(times), str(program.absolute())]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=worker_environment(threads))
        try:
            process.wait()
        except BaseException:  # an interrupt leaves nothing running
            process.terminate()
            process.wait()
            raise
        if not result.exists():
            raise RuntimeError(f"{program}: {Path(errors.name).read_text(errors='replace')[-200:]}")
        cost = json.loads(result.read_text())
        last = Path(errors.name).read_text(errors="replace").strip().splitlines()[-1:]
        failed = f"no end in {timeout:g} s" if cost["late"] else f"exit code {cost['code']}" + (f", {last[0][:200]}" if last else "")
        again = [json.loads(line) for line in notes.read_text().splitlines()][1:] if notes.exists() else []
        cost["seconds"] -= sum(ended - began for began, ended, *_ in again)
        costs = {name: cost[name] for name in ("seconds", "cpu", "rss")} | {"work": next((ended - began for began, ended, *error in again if not error), None)}
        return Run(Path(out.name).read_text(errors="replace"), costs, failed if cost["code"] else None)


def difference(ours: str, theirs: str, program: Program) -> str | None:
    """How the two texts differ: whole numbers and words must be equal, other numbers within the program's tolerance."""
    mine, expected = ours.splitlines(), theirs.splitlines()
    if len(mine) != len(expected):
        return f"{len(mine)} lines, PyTorch prints {len(expected)}"
    for number, (a, b) in enumerate(zip(mine, expected), 1):
        if NUMBER.sub("#", a) != NUMBER.sub("#", b):
            return f"line {number}: {a[:80]!r}, PyTorch prints {b[:80]!r}"
        for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)):
            if not _close(x, y, program):
                return f"line {number}: {x}, PyTorch prints {y} (rtol {program.rtol:g}, atol {program.atol:g})"
    return None


def _close(x: str, y: str, program: Program) -> bool:
    if x == y:
        return True
    if not any(mark in x + y for mark in ".en"):  # whole numbers
        return False
    a, b = float(x), float(y)
    return abs(a - b) <= program.atol + program.rtol * abs(b) if math.isfinite(a - b) else a == b


def record(found: list[Found], threads: int) -> dict:
    """The record of a comparison, unsealed."""
    from weir.version import __version__ as ours

    return new_run("weir.programs/v1") | {
        "subject": {"name": "weir", "version": ours}, "peer": {"name": "torch", "version": metadata.version("torch")},
        "threads": threads,
        "programs": [{"name": one.program.path.stem, "sha": digest(one.program.path.read_text()), "rtol": one.program.rtol, "atol": one.program.atol,
                      "same": one.reason is None, "reason": one.reason, "rounds": one.rounds} for one in found]}
