"""Random calls of weir's whole public surface: none may end the process, hang, or return with a half-set error.

    ./scripts/fuzz --calls 100000            numbers 0 to 99999, on all cores
    ./scripts/fuzz --replay 4711             makes call 4711 here and shows it
    ./scripts/fuzz --calls 2000 --only conv  calls of names that hold "conv"

Call n is the same on every machine and in every run: it is drawn from n alone. Calls run in forked processes, a batch in
each, with a limit on memory; a process that dies or takes too long names its call, and the next one goes on behind it.
Exits with 1 when a call failed, 0 otherwise.
"""

import argparse
import contextlib
import faulthandler
import gc
import io
import json
import mmap
import os
import resource
import signal
import struct
import sys
import tempfile
import time
import warnings

from fuzz_calls import MAKERS, Call, shown, signatures, surface, touch  # noqa: F401  (for the tests)

BATCH = 500            # calls a process makes before it is replaced
MOST_SECONDS = 20      # of computing: a call that takes more hangs, and so does one
MOST_WAITING = 120     # that takes as long by the clock, however little of a busy machine it had
MEMORY = 6 << 30       # bytes of address space a process may take


def make(number, targets, table, verbose=False):
    """Makes call `number`. Returns None, or what is wrong with how it ended."""
    import weir
    try:
        call = Call(number, targets, table)
        if verbose:
            print(call, flush=True)
        result = call.make()
        touch(result, weir)
        if verbose:
            print("gave", shown(result))
    except SystemError as error:
        return f"SystemError: {error}"
    except BaseException as error:
        if verbose:
            print(f"raised {type(error).__name__}: {str(error)[:500]}")
    return None


def limit_memory():
    """Bounds address space. Not of a sanitizer's process, which has reserved far more: it bounds a single request (`scripts/asan`)."""
    with open("/proc/self/statm") as held:
        if int(held.read().split()[0]) * resource.getpagesize() < MEMORY:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def work(first, count, progress, only):
    """A child: calls first .. first + count - 1, the number in `progress` before each is made."""
    limit_memory()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    targets, table = surface(only), signatures()
    gc.disable()
    wrong = []
    for n in range(first, first + count):
        note(progress, n)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            problem = make(n, targets, table)
        if problem:
            wrong.append((n, problem))
    gc.collect()
    note(progress, first + count)
    return wrong


def note(progress, number):
    """Says in shared memory that call `number` begins now."""
    progress[:24] = struct.pack("<qdd", number, time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime)


def computed(pid):
    """Seconds of processor time that a process has used itself: a machine may hand out 3 GiB of fresh memory in as many seconds as a hang takes."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


class Lane:
    """One process at a time, over numbers first, first + stride, ... in batches."""

    def __init__(self, batches, only):
        self.batches, self.only = batches, only
        self.failures, self.pid, self.made = [], None, 0

    def start(self, first, count):
        self.first, self.count = first, count
        self.progress = mmap.mmap(-1, 24)
        self.progress[:24] = struct.pack("<qdd", first, time.monotonic(), 0.0)
        self.traces = tempfile.TemporaryFile("w+")
        self.read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.read)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            faulthandler.disable()
            faulthandler.register(signal.SIGUSR1, self.traces, all_threads=False)
            with os.fdopen(write, "w") as pipe:
                json.dump(work(first, count, self.progress, self.only), pipe)
            os._exit(0)
        os.close(write)

    def poll(self):
        """Goes on where something ended. False when all is done."""
        if self.pid is None:
            if not self.batches:
                return False
            self.start(*self.batches.pop())
            return True
        number, since, before = struct.unpack("<qdd", self.progress[:24])
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            waited = time.monotonic() - since
            if waited > MOST_SECONDS and (waited > MOST_WAITING or computed(self.pid) - before > MOST_SECONDS):
                where = self.stack()
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.end(number, f"took more than {MOST_SECONDS} s in {where}")
            return True
        with os.fdopen(self.read) as pipe:
            text = pipe.read()
        if os.WIFSIGNALED(status):
            self.end(number, f"ended the process: {signal.Signals(os.WTERMSIG(status)).name}", closed=True)
        elif os.WEXITSTATUS(status):
            self.end(number, f"ended the process with status {os.WEXITSTATUS(status)}", closed=True)
        else:
            for number, problem in json.loads(text):
                self.fail(number, problem)
            self.made += self.count
            self.pid = None
        return True

    def stack(self):
        """The Python lines that a hanging child is in."""
        os.kill(self.pid, signal.SIGUSR1)
        time.sleep(0.3)
        self.traces.seek(0)
        lines = [line.strip() for line in self.traces.read().splitlines() if "File" in line]
        return " < ".join(lines[:3]) or "no Python line"

    def fail(self, number, problem):
        print(f"call {number}: {problem}", file=sys.stderr, flush=True)
        self.failures.append((number, problem))

    def end(self, number, problem, closed=False):
        if not closed:
            os.close(self.read)
        self.fail(number, problem)
        self.pid = None
        left = self.first + self.count - number - 1
        self.made += number + 1 - self.first
        if left > 0:
            self.batches.append((number + 1, left))


def campaign(first, calls, only, jobs):
    import weir  # noqa: F401  (once, before the forks)
    surface(only)
    batches = [(n, min(BATCH, first + calls - n)) for n in range(first, first + calls, BATCH)][::-1]
    lanes = [Lane(batches, only) for _ in range(jobs)]
    told = time.monotonic()
    while any([lane.poll() for lane in lanes]):
        time.sleep(0.01)
        if time.monotonic() - told > 5:
            told = time.monotonic()
            print(f"{sum(lane.made for lane in lanes):,} of {calls:,} calls, {sum(len(lane.failures) for lane in lanes)} failed",
                  file=sys.stderr, flush=True)
    return sorted(failure for lane in lanes for failure in lane.failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20000, help="how many calls (default: 20000)")
    parser.add_argument("--first", type=int, default=0, help="the first call's number (default: 0)")
    parser.add_argument("--only", default="", help="targets whose name holds this text")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: all cores)")
    parser.add_argument("--replay", type=int, help="makes one call in this process and shows it")
    parser.add_argument("--json", help="a file for the failures")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    if arguments.replay is not None:
        faulthandler.enable()
        problem = make(arguments.replay, surface(arguments.only), signatures(), verbose=True)
        print(problem or "ended well")
        return 1 if problem else 0
    failures = campaign(arguments.first, arguments.calls, arguments.only, arguments.jobs)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"calls": arguments.calls, "failures": failures}, file)
    print(f"{arguments.calls:,} calls, {len(failures)} failed" + (f"; see one with: ./scripts/fuzz --replay {failures[0][0]}"
          + (f" --only {arguments.only!r}" if arguments.only else "") if failures else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
