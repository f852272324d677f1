"""The environment of worker processes: where they find the packages, and how many threads they may use."""

import os
from pathlib import Path

PACKAGES = str(Path(__file__).absolute().parent.parent)  # where the tools were imported from
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def worker_environment(threads: int) -> dict:
    """Returns this process's environment with the thread counts and the import path set.

    All three variables count: a framework's set_num_threads alone leaves some BLAS libraries on every core.
    """
    path = os.pathsep.join(filter(None, [PACKAGES, os.environ.get("PYTHONPATH")]))
    return {**os.environ, **{name: str(threads) for name in THREAD_VARIABLES}, "PYTHONPATH": path}
