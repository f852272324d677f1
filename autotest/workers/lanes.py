"""Lanes: pairs of oracle and subject that share a list of tasks."""

import threading
from concurrent.futures import ThreadPoolExecutor


def share(lanes: list, tasks: list, on_done) -> list:
    """The results of `tasks`, in their order; `on_done` hears each as it is finished, on any thread.

    While a lane finishes a task (`lane.finish(prepared)`), its oracle prepares the next (`lane.prepare(task)`).
    """
    queue, lock = iter(enumerate(tasks)), threading.Lock()
    results: list = [None] * len(tasks)

    def drive(lane) -> None:
        with ThreadPoolExecutor(1) as ahead:
            def take():
                with lock:
                    found = next(queue, None)
                return found and (found[0], ahead.submit(lane.prepare, found[1]))

            pending = take()
            while pending:
                position, prepared = pending[0], pending[1].result()
                pending = take()
                results[position] = lane.finish(prepared)
                with lock:
                    on_done(results[position])

    with ThreadPoolExecutor(len(lanes)) as pool:
        for future in [pool.submit(drive, lane) for lane in lanes]:
            future.result()
    return results
