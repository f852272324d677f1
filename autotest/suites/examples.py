"""Runs examples of documentation (PyTorch's docstrings, or pages) under PyTorch and under a subject, and says which statements differ.

They are thousands of small programs that neither the subject's authors nor its tests' authors chose. PyTorch answers twice: what it does not give
twice (addresses, times, memory that nobody filled) is not compared.
"""

import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

RELATIVE, ABSOLUTE = 1e-3, 1e-4  # of printed numbers, which have four digits behind the point
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\binf\b|\bnan\b)")


@dataclass
class Difference:
    name: str
    statement: str
    expected: list  # ["ok", text], ["error", class, words] or ["ended", why]
    got: list


def same_text(expected: str, got: str) -> bool:
    """Equal but for white space, digits of printed numbers, and what is printed of an object that has no text of its own."""
    expected, got = (re.sub(r"<[\w.]+ object at 0x[0-9a-f]+>", "<object>", text) for text in (expected, got))
    if "".join(_NUMBER.sub("#", expected).split()) != "".join(_NUMBER.sub("#", got).split()):
        return False
    return all(p == q or (p != p and q != q) or abs(p - q) <= RELATIVE * max(abs(p), abs(q)) + ABSOLUTE
               for p, q in zip(map(float, _NUMBER.findall(expected)), map(float, _NUMBER.findall(got))))


def same(expected: list, got: list) -> bool:
    return expected[0] == got[0] == "ok" and same_text(expected[1], got[1])


def collect(only: str = "") -> dict[str, list[str]]:
    """name -> statements, of the names that contain `only`."""
    return {name: parts for line in _lines() for name, parts in json.loads(line).items() if only in name}


def run(framework: str, examples: dict[str, list[str]], on_answer=lambda name: None) -> dict[str, list]:
    """name -> answers to its statements under `torch` or a subject."""
    answers = {}
    for line in _lines(framework, given=json.dumps(examples)):
        name, answers[name] = json.loads(line)
        on_answer(name)
    return answers


def _lines(*arguments: str, given: str = ""):
    """What a worker prints, line by line."""
    command = [sys.executable, "-P", "-m", "weir_autotest.suites.examples_worker", *arguments]
    with tempfile.TemporaryFile("w+") as said, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True) as worker:
        worker.stdin.write(given)
        worker.stdin.close()
        yield from worker.stdout
        if worker.wait():
            said.seek(0)
            raise RuntimeError(f"examples: {' '.join(arguments) or 'collecting'} ended with {worker.returncode}: {said.read()[-500:]}")


def compare(subject: str, examples: dict[str, list[str]], on_start=lambda count: None, on_answer=lambda name: None) -> tuple[int, list[Difference]]:
    """How many statements were compared, and those that differ. What PyTorch itself refuses here, for want of hardware or a network, is not
    compared, nor that a name is not defined which a statement before it should have defined."""
    sides = ["torch", "torch", subject]
    on_start(len(sides) * len(examples))
    with ThreadPoolExecutor(len(sides)) as pool:
        first, second, ours = pool.map(lambda side: run(side, examples, on_answer), sides)
    compared, found = 0, []
    for name, parts in examples.items():
        differs = False
        for part, expected, again, got in zip(parts, first[name], second[name], ours[name]):
            if expected[0] == "ok" and same(expected, again) and not (differs and got[:2] == ["error", "NameError"]):
                compared += 1
                if not same(expected, got):
                    differs = True
                    found.append(Difference(name, part, expected, got))
    return compared, found


def show(examples: dict[str, list[str]], compared: int, found: list[Difference], width: int = 160) -> str:
    """The result as text: a line for all, then every statement that differs."""
    def line(text, prefix):
        return f"    {prefix} " + " ".join(text.split())[:width]

    lines = [f"{len(examples)} names have examples: {compared} statements compared, {len(found)} differ in {len({f.name for f in found})} names"]
    for f in found:
        lines += [f.name, line(f.statement, ">>>"), line(": ".join(f.expected[1:]), "expected"), line(": ".join(f.got[1:]), "got     ")]
    return "\n".join(lines)
