"""What a command costs: measured from a process that has loaded nothing."""

import json
import os
import subprocess
import sys
import time

from weir_dlperf.side_by_side import MEASURED


def measured(tmp_path, code, timeout="60"):
    result = tmp_path / "result.json"
    core = str(min(os.sched_getaffinity(0)))
    subprocess.run([sys.executable, "-I", "-S", MEASURED, str(result), timeout, core, sys.executable, "-I", "-S", "-c", code], check=True)
    return json.loads(result.read_text())


def test_costs_are_the_commands_own(tmp_path):
    held = bytearray(400 << 20)  # of this process
    found = measured(tmp_path, "x = bytearray(50 << 20)")
    assert found["code"] == 0 and not found["late"] and 50 << 20 < found["rss"] < len(held)
    assert found["seconds"] > 0 and found["cpu"] > 0


def test_a_command_that_fails_says_how(tmp_path):
    assert measured(tmp_path, "raise SystemExit(7)")["code"] == 7
    assert measured(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")["code"] == -9


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    began = time.monotonic()
    found = measured(tmp_path, "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])", timeout="1")
    assert found["late"] and found["code"] == -9 and time.monotonic() - began < 300


def test_it_runs_on_the_cores_that_are_named(tmp_path):
    found = measured(tmp_path, "import os; raise SystemExit(len(os.sched_getaffinity(0)))")
    assert found["code"] == 1
