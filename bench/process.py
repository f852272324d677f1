"""Worker processes and the pipe protocol: one JSON line asks, one answers."""

import json
import os
import select
import subprocess
import sys

from weir_reports.workers import worker_environment

from .sides import Side


class WorkerDied(RuntimeError):
    """The worker ended or went silent; the message says how."""


class Missing(RuntimeError):
    """The framework has no such function, or none for these inputs."""


class Refused(RuntimeError):
    """The framework raised an error."""


class Worker:
    """A child process `python -m module arg threads`, used as a context-free handle; `close` ends it. `wrap` is a command that
    runs it in its stead, as valgrind does."""

    def __init__(self, module: str, arg: str, threads: int, timeout: float = 120, side: Side | None = None,
                 wrap: tuple = ()):
        self.timeout = timeout
        environment = worker_environment(threads)
        if side is not None:
            environment["WEIR_BENCH_SLOW_DOWN"] = str(side.slow_down)
            if side.path or side.python != sys.executable:
                environment["WEIR_BENCH_FROM"] = side.path
        self._process = subprocess.Popen([*wrap, side.python if side else sys.executable, "-m", module, arg, str(threads)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        # All workers on the same cores: two cores of a shared machine are not equally fast from one moment to the next.
        os.sched_setaffinity(self._process.pid, sorted(os.sched_getaffinity(0))[-threads:])

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, do: str, **arguments) -> dict:
        """Sends one request and returns the answer. Raises Missing, Refused or WorkerDied."""
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise WorkerDied(self._ending()) from None
        # Answers are single lines and strictly alternate with requests, so nothing can sit in the buffer here.
        if not select.select([self._process.stdout], [], [], self.timeout)[0]:
            self._process.kill()
            raise WorkerDied(f"no answer to {do!r} in {self.timeout:g} s")
        line = self._process.stdout.readline()
        if not line:
            raise WorkerDied(self._ending())
        answer = json.loads(line)
        if "missing" in answer:
            raise Missing(answer["missing"])
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _ending(self) -> str:
        code = self._process.wait()
        return f"killed by signal {-code}" if code < 0 else f"exited with code {code}"
