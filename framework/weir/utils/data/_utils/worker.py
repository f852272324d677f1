"""What a worker knows of itself, and what it tells others."""
import dataclasses
import os


@dataclasses.dataclass
class WorkerInfo:
    """The worker's number, how many there are, its seed and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: object


_worker_info = None  # programs that have workers of their own set it


def get_worker_info():
    """The WorkerInfo of this process, None in the main process."""
    return _worker_info


@dataclasses.dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """A worker's stream is over."""

    worker_id: int


@dataclasses.dataclass(frozen=True)
class _ResumeIteration:
    """A worker that lives on shall begin anew."""

    seed: int | None = None


class ManagerWatchdog:
    """Asks whether the process that started this one still lives."""

    def __init__(self):
        self.manager_pid, self.manager_dead = os.getppid(), False

    def is_alive(self):
        self.manager_dead = self.manager_dead or os.getppid() != self.manager_pid
        return not self.manager_dead


from .._worker import _generate_state, _worker_loop  # noqa: E402,F401  (which needs this module)
