"""Runs test files of PyTorch's under PyTorch and under a subject, each in a process of its own, and says where the subject does worse."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

WIDTH = 100  # of an error's text where errors are counted as one kind


@dataclass
class File:
    """A test file: how many of its tests passed under the subject, and those that pass under PyTorch alone, those that the subject skips among them."""

    name: str
    total: int = 0
    passed: int = 0
    worse: list = field(default_factory=list)  # (test, first line of its error, where in the file it failed)
    trouble: str = ""  # why there are no results

    def kinds(self) -> list:
        """(error, its tests) of what does worse, the most frequent first; numbers and addresses in an error count as one."""
        found = defaultdict(list)
        for test, error, where in self.worse:
            found[re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?(e[-+]\d+)?", "N", error)[:WIDTH]].append((test, where))
        return sorted(found.items(), key=lambda kind: -len(kind[1]))


def results(xml: Path, file: str) -> dict:
    """test -> (outcome, first line of its error, where) of a JUnit file."""
    found = {}
    for case in ET.parse(xml).getroot().iter("testcase"):
        outcome, error, where = "passed", "", ""
        for part in case:
            if part.tag in ("failure", "error"):
                text = (part.get("message") or "") + "\n" + (part.text or "")
                lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
                outcome, error = "failed", next(filter(None, lines), text.strip().splitlines()[0] if text.strip() else "")
                places = re.findall(rf"{re.escape(file)}:\d+", text)
                where = places[-1] if places else ""
            elif part.tag == "skipped":
                outcome, error = "skipped", "skipped: " + (part.get("message") or "")
        found[f"{(case.get('classname') or '').rpartition('.')[2]}.{case.get('name')}"] = outcome, error, where
    return found


def run(framework: str, folder: Path, file: str, seconds: float, per_test: float) -> dict:
    """The results of one file under `torch` or a subject. RuntimeError with the end of its output where there are none."""
    with tempfile.TemporaryDirectory() as out:
        xml = Path(out) / "results.xml"
        program = ["-m", "pytest"] if framework == "torch" else ["-m", "weir_autotest.suites.launch", framework, str(folder)]
        environment = dict(os.environ, PYTORCH_TESTING_DEVICE_ONLY_FOR="cpu", OMP_NUM_THREADS="1")
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), str(folder)]))
        # No `-W ignore`: it would hide the warnings that tests count.
        # Nor PyTorch's decompositions, tested by the same names: `torch._refs` is no part of what users call.
        command = [sys.executable, *program, "-k", "not _refs", "-q", "-p", "no:cacheprovider", "--noconftest", "--disable-warnings", "--tb=short",
                   f"--timeout={per_test}", f"--rootdir={folder}", "-o", "addopts=", f"--junitxml={xml}", file]
        try:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{framework} did not end in {seconds:.0f} s") from None
        if not xml.exists():
            raise RuntimeError(f"{framework} ended with {done.returncode}: {(done.stdout + done.stderr)[-500:]}")
        return results(xml, file)


def unloaded(tests: dict, file: str) -> bool:
    """Whether these are the results of a file that cannot be loaded: pytest reports it as one failed test of the file's name."""
    name = file.removesuffix(".py").replace("/", ".")
    return [(test, outcome) for test, (outcome, _, _) in tests.items()] == [(f".{name}", "failed")] or not tests


def compare(subject: str, folder: Path, file: str, seconds: float, per_test: float) -> File:
    """One file under both."""
    result = File(file)
    try:
        ours = run(subject, folder, file, seconds, per_test)
        theirs = run("torch", folder, file, seconds, per_test)
    except RuntimeError as error:
        result.trouble = str(error)
        return result
    for framework, tests in (("torch", theirs), (subject, ours)):
        if unloaded(tests, file):
            result.trouble = f"{framework} cannot load it: " + "; ".join(error for _, error, _ in tests.values())
            return result
    result.total = sum(outcome != "skipped" for outcome, _, _ in theirs.values())
    result.passed = sum(outcome == "passed" for outcome, _, _ in ours.values())
    for test, (outcome, _, _) in theirs.items():
        own, error, where = ours.get(test, ("failed", "the test is not there", ""))
        if outcome == "passed" and own != "passed":
            result.worse.append((test, error, where))
    return result


def show(file: File, examples: int = 2) -> str:
    """A file's results as text: a line, then each kind of error with its first tests."""
    if file.trouble:
        return f"{file.name}: {file.trouble}"
    lines = [f"{file.name}: {file.passed} passed of {file.total}, {len(file.worse)} that PyTorch passes do not"]
    for error, tests in file.kinds():
        lines.append(f"  {len(tests):4} {error}")
        lines += [f"         {test}  {where}" for test, where in tests[:examples]]
    return "\n".join(lines)
