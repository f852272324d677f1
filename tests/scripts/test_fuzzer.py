"""The fuzzer: what it draws is repeatable, what it must notice it notices, and a short run of it finds nothing."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import fuzzer  # noqa: E402


def fuzz(*arguments, **environment):
    command = [sys.executable, str(ROOT / "scripts" / "fuzzer.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | environment)


def test_a_short_run_finds_nothing(tmp_path):
    done = fuzz("--calls", "3000", "--json", str(tmp_path / "out.json"))
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "out.json").read_text()) == {"calls": 3000, "failures": []}


def test_a_call_is_drawn_from_its_number_alone():
    targets, table = fuzzer.surface(""), fuzzer.signatures()
    again = [str(fuzzer.Call(n, targets, table)) for n in range(40)]
    shown = [str(fuzzer.Call(n, targets, table)) for n in range(40)]
    strip = lambda text: text.split(" at 0x")[0]  # noqa: E731  (addresses of plain objects)
    assert [strip(a) for a in again] == [strip(b) for b in shown] and len(set(again)) > 30


@pytest.mark.parametrize("kind", sorted(fuzzer.MAKERS))
def test_calls_of_every_kind_are_made_and_some_end_well(kind, tmp_path):
    targets, table = fuzzer.surface(""), fuzzer.signatures()
    of_kind = [t for t in targets if t[1][0] == kind]
    ended = 0
    for number in range(200):
        call = fuzzer.Call(number, of_kind, table)
        try:
            call.make()
            ended += 1
        except Exception:
            pass
    assert ended > 0


def crash():
    os.kill(os.getpid(), 11)


def stale():
    raise SystemError("returned a result with an exception set")


CRASH = "status 1" if "libasan" in os.environ.get("LD_PRELOAD", "") else "SIGSEGV"  # AddressSanitizer ends the process itself


@pytest.mark.parametrize("fault, words", [(crash, CRASH), (stale, "SystemError")], ids=["crash", "stale"])
def test_a_planted_fault_is_reported_and_the_rest_is_run(monkeypatch, fault, words):
    made = fuzzer.make

    def make(number, *rest, **options):
        if number == 7:
            try:
                fault()
            except SystemError as error:
                return f"SystemError: {error}"
        return made(number, *rest, **options)

    monkeypatch.setattr(fuzzer, "make", make)
    failures = fuzzer.campaign(0, 30, "", 1)
    assert [number for number, _ in failures] == [7] and words in failures[0][1]


def compute():
    while True:
        pass


@pytest.mark.parametrize("hang, waiting", [(lambda: time.sleep(60), 6), (compute, 60)])
def test_a_hang_is_ended(monkeypatch, hang, waiting):
    monkeypatch.setattr(fuzzer, "MOST_SECONDS", 5)
    monkeypatch.setattr(fuzzer, "MOST_WAITING", waiting)
    monkeypatch.setattr(fuzzer, "make", lambda number, *rest, **options: hang() if number == 3 else None)
    assert [number for number, problem in fuzzer.campaign(0, 6, "", 1) if "took more" in problem] == [3]


def test_help_has_examples():
    assert "--replay 4711" in fuzz("--help").stdout
