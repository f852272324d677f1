"""Worker processes: a pipe of pickled messages, deadlines, and restarts."""

import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from ..cases.values import Raised

#: One thread per worker: oracle and subject already run side by side.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class WorkerLost(Exception):
    """The worker died or missed its deadline; the message says which and how."""


class Worker:
    """A child process `python -m weir_autotest.<role> FD args...`, started on first use.

    Not thread-safe: one thread at a time may talk to a worker.
    """

    def __init__(self, role: str, arguments: list[str], start_timeout: float = 120.0, environment: dict | None = None):
        self._command = [sys.executable, "-m", f"weir_autotest.{role}"]
        self._arguments = arguments
        self._environment = {**_ENVIRONMENT, **(environment or {})}
        self._start_timeout = start_timeout
        self._process: subprocess.Popen | None = None
        self._connection: Connection | None = None
        self._errors = None
        self.greeting: tuple = ()

    def start(self) -> tuple:
        """Starts the process if none runs; returns its first message."""
        if self._process is None:
            self._launch()
            self.greeting = self.receive(self._start_timeout)
        return self.greeting

    def _launch(self) -> None:
        self._errors = tempfile.TemporaryFile()
        self._connection, child_end = Pipe()
        self._process = subprocess.Popen(
            [*self._command, str(child_end.fileno()), *self._arguments], pass_fds=[child_end.fileno()],
            stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors,
            env={**os.environ, **self._environment})
        child_end.close()  # so that the child's death closes the pipe

    def send(self, message) -> None:
        """Sends one message, starting the process if need be. Raises WorkerLost."""
        self.start()
        try:
            self._connection.send(message)
        except OSError:
            raise WorkerLost(self._bury()) from None

    def receive(self, timeout: float):
        """The next message. Raises WorkerLost after `timeout` seconds of silence, or on death."""
        try:
            if self._connection.poll(timeout):
                return self._connection.recv()
        except (EOFError, OSError):
            raise WorkerLost(self._bury()) from None
        self.stop()
        raise WorkerLost(f"no answer within {timeout:g} s")

    def _bury(self) -> str:
        """Waits for a process whose pipe broke and describes its end."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            code = None
        tail = self._error_tail()
        self.stop()
        if code is None:
            return "closed its pipe"
        how = f"exited with status {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        return f"{how}: {tail}" if tail else how

    def _error_tail(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def stop(self) -> None:
        """Ends the process; the next send starts a fresh one."""
        if self._process is None:
            return
        self._connection.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()
        self._process = None


def connect(descriptor: str) -> Connection:
    """The worker's end of the pipe."""
    return Connection(int(descriptor))


def serve(connection: Connection, requests: dict) -> None:
    """Answers (name, *arguments) by `requests[name]` until the driver closes the pipe; an exception is an answer too."""
    while True:
        try:
            name, *arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = requests[name](*arguments)
        except Exception as error:
            answer = Raised.of(error)
        connection.send(answer)
