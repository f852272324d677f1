"""Runs a command and writes what it cost: seconds of the clock and of the processor, and the largest resident size.

    python -I -S measured.py RESULT TIMEOUT CORES COMMAND...     CORES as 0,1

A file of its own, run by its path: Linux counts to a process's largest size that of the process which it was forked from, so that
a tool which has loaded a framework would measure itself. This one loads nothing.
"""

import json
import os
import signal
import sys
import time


def main(result: str, timeout: str, cores: str, *command: str) -> None:
    """Writes {"code", "late", "seconds", "cpu", "rss"} as JSON into the file `result`; a code below zero is a signal's number."""
    os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)  # of its own, so that what it starts ends with it
            os.execv(command[0], command)
        finally:
            os._exit(127)
    late = []

    def end(number, frame):
        late.append(number == signal.SIGALRM)
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    signal.signal(signal.SIGALRM, end)
    signal.signal(signal.SIGTERM, end)
    signal.setitimer(signal.ITIMER_REAL, float(timeout))
    _, status, usage = os.wait4(pid, 0)
    with open(result, "w") as file:
        json.dump({"code": os.waitstatus_to_exitcode(status), "late": any(late), "seconds": time.perf_counter() - start,
                   "cpu": usage.ru_utime + usage.ru_stime, "rss": usage.ru_maxrss * 1024}, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
