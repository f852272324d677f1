"""Worker processes of a DataLoader.

Each worker has a queue of tasks; results come back on one queue and are put in order here. Tensors travel as
pickled arrays: simple, and right for batches that a training step reads once.
"""

import multiprocessing
import pickle
import queue
import random
import signal
import sys
import traceback

import weir
from weir._lazy import np

from . import _collate

_STOP, _RESTART = "stop", "restart"
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


class _End:
    """A worker's stream is over."""


def _generate_state(base_seed, worker_id):
    """NumPy's seed of a worker, four words of 32 bits, as PyTorch makes it."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4).tolist()


def _work(worker, loader, seed, tasks, results):
    """A worker's life: fetch what is asked for until told to stop."""
    from .dataloader import Fetcher
    weir.set_num_threads(1)
    random.seed(seed + worker)
    weir.manual_seed(seed + worker)
    np.random.seed(_generate_state(seed, worker))
    _collate.set_worker_info(_collate.WorkerInfo(worker, loader.num_workers, seed + worker, loader.dataset))
    try:
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(worker)
        fetch = Fetcher(loader)
    except Exception:
        failure, fetch = _Failure(worker), None
    while True:
        kind, number, index = tasks.get()
        if kind == _STOP:
            return
        if kind == _RESTART:
            fetch = Fetcher(loader)
            continue
        try:
            value = fetch(index) if fetch is not None else failure
        except StopIteration:
            value = _End()
        except Exception:
            value = _Failure(worker)
        results.put((number, worker, pickle.dumps(value)))


def _end_of(process):
    """How an ended process ended, in words."""
    code = process.exitcode
    return f"killed by {signal.Signals(-code).name}" if code and code < 0 else f"status {code}"


class WorkerPool:
    """The processes of one loader; `run` yields the batches of one epoch in order."""

    def __init__(self, loader, seed):
        context = loader.multiprocessing_context
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context)
        self._loader, self._results = loader, context.Queue()
        self._tasks = [context.SimpleQueue() for _ in range(loader.num_workers)]
        self._processes = [
            context.Process(target=_work, args=(i, loader, seed, tasks, self._results), daemon=True)
            for i, tasks in enumerate(self._tasks)]
        for process in self._processes:
            process.start()
        self._epochs = 0
        self._sent = 0  # tasks over all epochs, so that a late result of a broken-off epoch is told apart

    def run(self, indices, close):
        """Batches of the indices, `prefetch_factor` ahead per worker."""
        if self._epochs:
            for tasks in self._tasks:
                tasks.put((_RESTART, None, None))
        self._epochs += 1
        try:
            yield from self._ordered(indices)
        finally:
            if close:
                self.close()

    def _ordered(self, indices):
        workers = len(self._tasks)
        alive = set(range(workers))
        given = self._sent
        waiting, ready = {}, {}
        exhausted = False
        turn = 0
        while True:
            while not exhausted and alive and len(waiting) + len(ready) < workers * self._loader.prefetch_factor:
                try:
                    index = next(indices)
                except StopIteration:
                    exhausted = True
                    break
                while turn % workers not in alive:
                    turn += 1
                self._tasks[turn % workers].put(("task", self._sent, index))
                waiting[self._sent] = turn % workers
                self._sent, turn = self._sent + 1, turn + 1
            if given == self._sent:
                return
            while given not in ready:
                number, worker, text = self._receive()
                if number in waiting:  # else: left over from an epoch that was broken off
                    del waiting[number]
                    ready[number] = worker, text
            worker, text = ready.pop(given)
            given += 1
            value = pickle.loads(text)
            if isinstance(value, _Failure):
                value.reraise()
            if isinstance(value, _End):
                alive.discard(worker)
            else:
                yield value

    def _receive(self):
        patience = self._loader.timeout or None
        waited = 0.0
        while True:
            step = _POLL_SECONDS if patience is None else min(_POLL_SECONDS, patience - waited)
            try:
                return self._results.get(timeout=step)
            except queue.Empty:
                waited += step
                dead = [p for p in self._processes if not p.is_alive()]
                if dead:
                    raise RuntimeError("DataLoader worker (pid(s) " + ", ".join(str(p.pid) for p in dead) + ") exited unexpectedly: "
                                       + ", ".join(map(_end_of, dead))) from None
                if patience is not None and waited >= patience:
                    raise RuntimeError(f"DataLoader timed out after {patience} seconds") from None

    def close(self):
        """Stops the workers and waits for them."""
        for process, tasks in zip(self._processes, self._tasks):
            if process.is_alive():
                tasks.put((_STOP, None, None))
        for process in self._processes:
            process.join(timeout=_STOP_SECONDS)
            if process.is_alive():
                process.terminate()
        self._results.cancel_join_thread()
        self._results.close()
