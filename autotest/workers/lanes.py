"""Lanes: pairs of oracle and subject that share a list of tasks."""

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import groupby

from weir_reports.limits import TimeLimit


def share(lanes: list, tasks: list, on_done, together=id, limit: TimeLimit = TimeLimit()) -> list:
    """The results of `tasks`, in their order; `on_done` hears each as it is finished, on any thread.

    While a lane finishes a task (`lane.finish(prepared)`), its oracle prepares the next (`lane.prepare(task)`). Neighbours
    of the same `together(task)` go to the same lane, whose oracle then does what they share once; the longest such group
    is begun first. Past its limit no task is begun; an interrupt ends what is under way, too: the results are those of the tasks that
    were done, and after an interrupt there must be some.
    """
    groups = [list(group) for _, group in groupby(enumerate(tasks), lambda pair: together(pair[1]))]
    queue, lock = iter(sorted(groups, key=len, reverse=True)), threading.Lock()
    begun, stopped = threading.Event(), threading.Event()
    results: dict = {}

    def drive(lane) -> None:
        begun.wait()  # for an interrupt amid the submissions, of which the pool may not know the last, nothing is under way
        mine: deque = deque()
        with ThreadPoolExecutor(1) as ahead:
            def take():
                with lock:
                    mine.extend(() if mine else next(queue, ()))
                if not mine or not limit.allows():
                    return None
                position, task = mine.popleft()
                return position, ahead.submit(lane.prepare, task)

            pending = None if stopped.is_set() else take()
            while pending and not stopped.is_set():
                position, prepared = pending[0], pending[1].result()
                pending = take()
                results[position] = lane.finish(prepared)
                with lock:
                    on_done(results[position])

    with ThreadPoolExecutor(len(lanes)) as pool:
        try:
            busy = {pool.submit(drive, lane) for lane in lanes}
            begun.set()
            while busy:
                # not for ever: a signal just before the wait would be heard at its end only
                done, busy = wait(busy, timeout=1)
                for future in done:
                    future.result()
        except KeyboardInterrupt:
            stopped.set()
            begun.set()
            if not results:
                raise
    return [results[position] for position in sorted(results)]
