"""Runs a program as `__main__`, twice where asked, and notes when each run began and ended.

    python begun.py NOTES TIMES PROGRAM [ARGUMENTS]          under PyTorch
    python -m weir begun.py NOTES TIMES PROGRAM [ARGUMENTS]  under weir

The first run pays what comes once in a process (modules that are loaded when they are used, plans of kernels); the second is the work itself.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import time

import torch


def main(notes: str, times: str, program: str, *arguments: str) -> None:
    """Adds a line of JSON to the file `notes` as each run ends: [began, ended] of `time.perf_counter`, and why it failed where a repetition did.

    What the first run raises ends the process as it would alone. Only the first one prints.
    """
    torch.optim.SGD([torch.zeros(1)], lr=0.1)  # PyTorch loads its compiler with the first optimizer
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(program)
    for number in range(int(times)):
        began, failed = time.perf_counter(), []
        try:
            with contextlib.redirect_stdout(io.StringIO()) if number else contextlib.nullcontext():
                runpy.run_path(program, run_name="__main__")
        except (Exception, SystemExit) as error:
            if not isinstance(error, SystemExit) or error.code not in (None, 0):
                if not number:
                    raise
                failed = [repr(error)]
        with open(notes, "a") as file:
            print(json.dumps([began, time.perf_counter(), *failed]), file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
