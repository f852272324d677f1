"""Worker processes of a DataLoader.

Each worker has a pipe of tasks; results come back on one queue and are put in order here. Large tensors lie in memory
that both processes map (`_slots.py`), the rest is pickled.
"""

import contextlib
import multiprocessing
import pickle
import queue
import random
import signal
import sys
import traceback

import weir
from weir._lazy import np

from . import _collate, _slots

_STOP, _RESTART = "stop", "restart"
_ORPHAN_SECONDS = 5.0  # how often an idle worker looks whether its parent still lives
_POLL_SECONDS = 0.5   # how often to look whether the workers still live, while no batch comes
_STOP_SECONDS = 5.0   # how long a worker may take to end before it is made to


class _Failure:
    """An exception of a worker on its way to the main process."""

    def __init__(self, worker):
        kind, value, _ = sys.exc_info()
        self._kind, self._text = kind, f"Caught {kind.__name__} in DataLoader worker process {worker}.\n" + "".join(
            traceback.format_exc())

    def reraise(self):
        try:
            error = self._kind(self._text)
        except TypeError:
            error = RuntimeError(self._text)
        raise error


class End:
    """A worker's stream is over, or all batches of an epoch were given."""


def _generate_state(base_seed, worker_id):
    """NumPy's seed of a worker, four words of 32 bits, as PyTorch makes it."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4).tolist()


def _worker_loop(worker, loader, seed, tasks, results):
    """A worker's life: fetch what is asked for until told to stop."""
    from ._utils import worker as state
    from .dataloader import _DatasetKind, fetcher_of
    weir.set_num_threads(1)
    random.seed(seed + worker)
    weir.manual_seed(seed + worker)
    np.random.seed(_generate_state(seed, worker))
    slots = _slots.Slots()
    state._worker_info = state.WorkerInfo(worker, loader.num_workers, seed + worker, loader.dataset)
    try:
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(worker)
        fetcher = fetcher_of(loader)
    except Exception:
        failure, fetcher = _Failure(worker), None
    parent = multiprocessing.parent_process()
    while True:
        while not tasks.poll(_ORPHAN_SECONDS):
            if not parent.is_alive():  # the pipe does not end with it: later workers hold its other end too
                results.cancel_join_thread()
                return
        kind, number, index, news = tasks.recv()
        if kind == _STOP:
            return
        if kind == _RESTART:
            fetcher = fetcher_of(loader)
            continue
        if news is not None:
            slots.begin(*news)
        _collate.set_slots(slots if news is not None else None)
        try:
            value = fetcher.fetch(index) if fetcher is not None else failure
        except Exception as error:
            value = End() if isinstance(error, StopIteration) and loader._dataset_kind == _DatasetKind.Iterable else _Failure(worker)
        try:
            sent = slots.dumps(value) if news is not None else (pickle.dumps(value), [], [])
        except Exception:  # of the batch's own reduction
            sent = pickle.dumps(_Failure(worker)), [], []
        results.put((number, worker, *sent))


def _end_of(process):
    """How an ended process ended, in words."""
    code = process.exitcode
    return f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"status {code}"


class WorkerPool:
    """The processes of one loader. `start` begins an epoch, `next` gives its batches."""

    def __init__(self, loader, seed):
        from ._utils import worker as replaceable  # programs put loops of their own in the place of ours
        context = loader.multiprocessing_context or multiprocessing.get_context()
        self._loader, self._results = loader, context.Queue()
        pipes = [context.Pipe(duplex=False) for _ in range(loader.num_workers)]
        self._tasks = [send for _, send in pipes]
        self.processes = [
            context.Process(target=replaceable._worker_loop, args=(i, loader, seed, tasks, self._results), daemon=True)
            for i, (tasks, _) in enumerate(pipes)]
        for process in self.processes:
            process.start()
            _slots.received[process.pid] = _slots.Received()
        self._slots = [_slots.received[process.pid] for process in self.processes]
        self._shares = all(_slots.possible(process.pid) for process in self.processes)
        for tasks, _ in pipes:
            tasks.close()
        self._epochs = 0
        self._sent = 0  # tasks over all epochs, so that a late result of a broken-off epoch is told apart

    def start(self, indices):
        """An epoch over `indices`, the first `prefetch_factor` batches per worker asked for at once."""
        if self._epochs:
            for tasks in self._tasks:
                tasks.send((_RESTART, None, None, None))
            for worker, text, sent, gone in self._ready.values():
                self._slots[worker].drop(sent, gone)
        self._epochs += 1
        self._indices, self._due = indices, self._sent
        self._alive, self._turn = set(range(len(self._tasks))), 0
        self._waiting, self._ready = {}, {}  # by number of the task: its worker; and what came of it
        self._ask()

    def next(self):
        """The batch that is due, or with in_order=False one that is there; End at the end of the epoch.

        What a worker raised is raised here in the place of its batch; those after it can still be asked for.
        """
        while True:
            self._ask()
            if not (self._waiting or self._ready):
                return End()
            while not self._ready or (self._loader.in_order and self._due not in self._ready):
                number, worker, text, sent, gone = self._receive()
                if self._waiting.pop(number, None) is not None:
                    self._ready[number] = worker, text, sent, gone
                else:  # left over from an epoch that was broken off
                    self._slots[worker].drop(sent, gone)
            worker, text, _, gone = self._ready.pop(self._due if self._loader.in_order else next(iter(self._ready)))
            self._due += 1
            self._slots[worker].forget(gone)
            value = pickle.loads(text)
            if isinstance(value, _Failure):
                self._ask()
                value.reraise()
            if not isinstance(value, End):
                self._ask()
                return value
            self._alive.discard(worker)

    def _ask(self):
        """Asks for batches until enough are under way."""
        while self._indices is not None and (worker := self._free()) is not None:
            try:
                index = next(self._indices)
            except StopIteration:
                self._indices = None
                return
            self._tasks[worker].send(("task", self._sent, index, self._slots[worker].news() if self._shares else None))
            self._waiting[self._sent] = worker
            self._sent += 1

    def _free(self):
        """The worker for the next batch; None where as many are under way as may be."""
        most = len(self._tasks) * self._loader.prefetch_factor
        if not self._alive or len(self._waiting) + len(self._ready) >= most:
            return None
        for _ in self._tasks:
            worker, self._turn = self._turn, (self._turn + 1) % len(self._tasks)
            loaded = list(self._waiting.values()).count(worker)
            if worker in self._alive and (self._loader.in_order or loaded < most // len(self._alive)):
                return worker
        return None

    def _receive(self):
        patience = self._loader.timeout or None
        waited = 0.0
        while True:
            step = _POLL_SECONDS if patience is None else min(_POLL_SECONDS, patience - waited)
            try:
                return self._results.get(timeout=step)
            except queue.Empty:
                waited += step
                dead = [p for p in self.processes if not p.is_alive()]
                if dead:
                    raise RuntimeError("DataLoader worker (pid(s) " + ", ".join(str(p.pid) for p in dead) + ") exited unexpectedly: "
                                       + ", ".join(map(_end_of, dead))) from None
                if patience is not None and waited >= patience:
                    raise RuntimeError(f"DataLoader timed out after {patience} seconds") from None

    def close(self):
        """Stops the workers and waits for them."""
        for process, tasks in zip(self.processes, self._tasks):
            if process.is_alive():
                with contextlib.suppress(BrokenPipeError):  # it ended just now
                    tasks.send((_STOP, None, None, None))
        for process in self.processes:
            process.join(timeout=_STOP_SECONDS)
            if process.is_alive():
                process.terminate()
            _slots.received.pop(process.pid, None)
        self._results.cancel_join_thread()
        self._results.close()
