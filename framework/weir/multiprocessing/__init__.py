"""Processes that share tensors: Python's multiprocessing, and tensors whose memory lies in shared files.

A tensor travels to another process as the name of its shared memory, into which it is moved first (`share_memory_`), so
that both see each other's writes. Source: torch.multiprocessing.
"""
import multiprocessing as _multiprocessing
from multiprocessing import *  # noqa: F401,F403

from .shared import init_reductions
from .spawn import (ProcessContext, ProcessExitedException, ProcessException, ProcessRaisedException,  # noqa: F401
                    SpawnContext, spawn, start_processes)

__all__ = [*_multiprocessing.__all__, "set_sharing_strategy", "get_sharing_strategy", "get_all_sharing_strategies", "spawn"]
init_reductions()


def get_all_sharing_strategies():
    """How memory can be shared: by files in memory."""
    return {"file_system"}


def get_sharing_strategy():
    return "file_system"


def set_sharing_strategy(new_strategy):
    """"file_system" is the one; "file_descriptor" is taken for it. ValueError for others."""
    if new_strategy not in ("file_system", "file_descriptor"):
        raise ValueError(f"set_sharing_strategy: expected 'file_system' or 'file_descriptor', got {new_strategy!r}")


def _set_thread_name(name):
    """What the system calls this thread, of which it keeps 15 letters."""
    with open("/proc/thread-self/comm", "wb") as file:
        file.write(name.encode()[:15])


def _get_thread_name():
    """What the system calls this thread."""
    with open("/proc/thread-self/comm") as file:
        return file.read().rstrip("\n")


def __getattr__(name):
    if name in ("reductions", "queue", "pool"):
        import importlib
        return importlib.import_module(f"weir.multiprocessing.{name}" if name == "reductions" else f"multiprocessing.{name}")
    return getattr(_multiprocessing, name)
