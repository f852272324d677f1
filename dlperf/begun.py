"""Runs a program as `__main__` and notes when its own work began and ended, behind what every program of PyTorch's pays once.

    python begun.py NOTES PROGRAM [ARGUMENTS]          under PyTorch
    python -m weir begun.py NOTES PROGRAM [ARGUMENTS]  under weir
"""

import os
import runpy
import sys
import time

import torch


def main(notes: str, program: str, *arguments: str) -> None:
    """Writes two lines of `time.perf_counter` into the file `notes`, the second when the program ends, however it does."""
    torch.optim.SGD([torch.zeros(1)], lr=0.1)  # PyTorch loads its compiler with the first optimizer
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(program)
    with open(notes, "w") as file:
        print(time.perf_counter(), file=file, flush=True)
        try:
            runpy.run_path(program, run_name="__main__")
        finally:
            print(time.perf_counter(), file=file)


if __name__ == "__main__":
    main(*sys.argv[1:])
