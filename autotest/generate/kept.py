"""Answers of PyTorch's databases, kept from run to run: to import those takes seconds, to read what they once answered nothing.

The files lie in $XDG_CACHE_HOME/weir/samples, by default under ~/.cache, one folder for each version of PyTorch, NumPy, SciPy and
the code that writes them. They may be deleted at any time.
"""

import hashlib
import os
import pickle
from functools import lru_cache, wraps
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

_SOURCES = ("samples.py", "objects.py", "databases.py", "vary.py", "../cases/case.py", "../workers/opinfo.py")  # what an answer depends on


def kept(make):
    """`make(*names)`, remembered on disk. Where nothing can be written, it is only slower."""
    @wraps(make)
    def remembered(*names: str):
        path = _folder() / ".".join((make.__name__.strip("_"), *names))
        try:
            return pickle.loads(path.read_bytes())  # of this user's own making
        except OSError:
            made = make(*names)
        try:
            _write(path, pickle.dumps(made))
        except OSError:
            pass
        return made

    return remembered


def mostly() -> bool:
    """Whether so much is kept that the databases may be left alone until something is missing."""
    return _folder().is_dir() and sum(1 for _ in _folder().iterdir()) > _MOST


_MOST = 500  # answers: a run of all operations in one dtype keeps more, a run of a few operations does not


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}")  # a reader never sees half a file
    part.write_bytes(data)
    part.rename(path)


@lru_cache(maxsize=1)
def _folder() -> Path:
    known = hashlib.sha256(f"{torch.__version__} {np.__version__} {version('scipy')}".encode())
    for source in _SOURCES:
        known.update((Path(__file__).parent / source).read_bytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "weir" / "samples" / known.hexdigest()[:16]
