"""Worker processes: a pipe of pickled messages, deadlines, and restarts."""

import contextlib
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from ..cases.values import Raised

#: One thread per worker: oracle and subject already run side by side.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class WorkerLost(Exception):
    """The worker died or missed its deadline; the message says which and how."""


@dataclass(frozen=True)
class Loss:
    """What a worker says when a child that did its work has died; see `in_children`."""

    how: str


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
        self._greeting: tuple | None = None
        self._owed = 0  # answers to what it was sent

    def start(self) -> tuple:
        """Starts the process if none runs; returns its first message."""
        self.launch()
        if self._greeting is None:
            self._greeting = self.receive(self._start_timeout)
        return self._greeting

    def launch(self) -> None:
        """Starts the process if none runs, without waiting for it to import what it needs."""
        if self._process is not None:
            return
        self._errors = tempfile.TemporaryFile()
        self._connection, child_end = Pipe()
        self._process = subprocess.Popen(
            [*self._command, str(child_end.fileno()), *self._arguments], pass_fds=[child_end.fileno()],
            stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors,
            env={**os.environ, **self._environment}, start_new_session=True)
        child_end.close()  # so that the child's death closes the pipe
        self._owed = 1  # its greeting

    def send(self, message) -> None:
        """Sends one message, starting the process if need be. Raises WorkerLost."""
        self.start()
        try:
            while not self._owed and self._connection.poll():  # left by a child that died unasked: it would pass for the answer
                if isinstance(self._connection.recv(), Loss):
                    self._await_next()
            self._connection.send(message)
            self._owed += 1
        except (EOFError, OSError):
            raise WorkerLost(self._bury()) from None

    def receive(self, timeout: float):
        """The next message. Raises WorkerLost after `timeout` seconds of silence, or on death."""
        try:
            if self._connection.poll(timeout):
                answer = self._connection.recv()
                self._owed -= 1
                if isinstance(answer, Loss):
                    self._await_next()
                    raise WorkerLost(self._with_tail(answer.how))
                return answer
        except (EOFError, OSError):
            raise WorkerLost(self._bury()) from None
        self.stop()
        raise WorkerLost(f"no answer within {timeout:g} s")

    def _await_next(self) -> None:
        """Waits until another child may do the work of one that died."""
        if not self._connection.poll(self._start_timeout):
            self.stop()
            raise WorkerLost(f"no other child within {self._start_timeout:g} s")
        self._connection.recv()

    @property
    def idle(self) -> bool:
        """Whether the process runs and owes no answer, so that somebody else may ask it."""
        return self._process is not None and not self._owed and not self._connection.poll() and self._process.poll() is None

    def alike(self, other: "Worker") -> bool:
        """Whether the other would start the same process."""
        return (self._command, self._arguments, self._environment) == (other._command, other._arguments, other._environment)

    def _bury(self) -> str:
        """Waits for a process whose pipe broke and describes its end."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            code = None
        how = "closed its pipe" if code is None else self._with_tail(_end(code))
        self.stop()
        return how

    def _with_tail(self, how: str) -> str:
        """`how` with the last line that the process wrote, which is forgotten then."""
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        self._errors.seek(0)
        self._errors.truncate()
        return f"{how}: {lines[-1][:200]}" if lines else how

    def renew(self, most: int) -> None:
        """Ends a process that holds more than `most` bytes of data. An allocator keeps what a large call needed in pieces, the limit
        on memory counts it, and later calls would be refused what a fresh process has. Without a limit none is refused anything."""
        if self._process is None or not most:
            return
        with contextlib.suppress(OSError), open(f"/proc/{self._process.pid}/status") as status:
            if resource.prlimit(self._process.pid, resource.RLIMIT_DATA)[0] == resource.RLIM_INFINITY:
                return
            held = next((int(line.split()[1]) << 10 for line in status if line.startswith("VmData:")), 0)
            if held > most:
                self.stop()

    def stop(self) -> None:
        """Ends the process; the next send starts a fresh one."""
        if self._process is None:
            return
        self._connection.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # with the children it may have
        self._process.wait()
        self._errors.close()
        self._process = self._greeting = None


def _end(code: int) -> str:
    return f"exited with status {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def rest_collector() -> None:
    """Collects garbage seldom, and never looks at what is imported so far: a worker makes small trees by the thousand, and a
    collection in a forked child would write to, and so copy, every page that it shares."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def in_children(connection: Connection, work, prepare) -> None:
    """Calls `work` in a forked child, and again in a fresh one whenever one dies, so that what takes seconds to import is
    imported once. `prepare` imports what some of the work needs, once a first child has died; most need none of it, or lose no child.
    The driver hears of each death, and when the work goes on. Returns when `work` has.
    """
    while True:
        rest_collector()
        child = os.fork()
        if not child:
            work()
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return
        connection.send(Loss(_end(code)))
        prepare()
        connection.send(None)


def connect(descriptor: str) -> Connection:
    """The worker's end of the pipe. From now on the worker ends with its driver, though it be within a call that never ends and so never finds the pipe closed."""
    driver = os.getppid()

    def watch():
        while os.getppid() == driver:
            time.sleep(1)
        os.killpg(0, signal.SIGKILL)  # with the children it may have

    threading.Thread(target=watch, daemon=True).start()
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
