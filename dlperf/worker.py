"""One training run in a fresh process: `python -m weir_dlperf.worker spec.json result.json`."""

import json
import os
import re
import resource
import sys
import time
from pathlib import Path

from .trainers import trainer as make_trainer


def train(spec: dict) -> dict:
    """Runs a spec and returns traces, step times and resources."""
    marks = {"init_start": _unix_ms()}
    trainer = make_trainer(spec)
    for _ in range(spec["warmup"]):
        trainer.step()
    marks["run_start"] = _unix_ms()
    before = resource.getrusage(resource.RUSAGE_SELF)
    cpu = time.process_time_ns()
    steps = [trainer.step() for _ in range(spec["steps"])]
    cpu = time.process_time_ns() - cpu
    marks["run_stop"] = _unix_ms()
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before.ru_nivcsw
    phases = {name: [s[name] for s in steps] for name in ("data", "fwd", "bwd", "opt")}
    return {"version": str(trainer.version), "params": trainer.params,
            "weights_sha": trainer.weights_sha, "data_sha": trainer.data_sha,
            "loss": [s["loss"] for s in steps], "grad_norm": [s["grad_norm"] for s in steps],
            "step_ns": [s["step_ns"] for s in steps], "phases_ns": phases, "rss_peak": peak_memory(), "cpu_ns": cpu,
            "nivcsw": switches, "unix_ms": marks}


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


def peak_memory() -> int | None:
    """Returns the largest resident size this process has had, in bytes (VmHWM); None where the system hides it."""
    try:
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
    except (OSError, TypeError):
        return None


def main() -> None:
    """Pins the process before any library starts its threads, trains, and writes the result."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    os.sched_setaffinity(0, spec["affinity"])
    try:
        result = train(spec)
    except MemoryError as error:
        result = {"failed": "oom", "reason": str(error)[:300]}
    except Exception as error:  # whatever a framework raises is a result about it
        oom = "out of memory" in str(error).lower() or "can't allocate" in str(error).lower()
        result = {"failed": "oom" if oom else "fail", "reason": f"{type(error).__name__}: {error}"[:300]}
    Path(sys.argv[2]).write_text(json.dumps(result))


if __name__ == "__main__":
    main()
