"""Values that come later. Source: torch.futures."""
import logging
import threading


class Future:
    """A value or exception that some thread sets once, and others wait for."""

    def __init__(self, *, devices=None):
        self._set, self._callbacks, self._lock = threading.Event(), [], threading.Lock()
        self._value = self._error = None

    def __class_getitem__(cls, item):
        return cls

    def __reduce_ex__(self, protocol):
        raise RuntimeError("Can not pickle torch.futures.Future")

    def done(self):
        return self._set.is_set()

    def wait(self):
        """The value, when it is there; the exception is raised."""
        self._set.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def value(self):
        """The value. RuntimeError when it is not there yet."""
        if not self.done():
            raise RuntimeError("Future has not completed; call wait() first")
        return self.wait()

    def set_result(self, result):
        self._finish(result, None)

    def set_exception(self, result):
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value, error):
        with self._lock:
            if self.done():
                raise RuntimeError("Future was already completed")
            self._value, self._error = value, error
            self._set.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            self._call(callback)

    def _call(self, callback):
        try:
            callback(self)
        except Exception:  # nobody waits for what it gives
            logging.getLogger(__name__).exception("Got the following error when running the callback:")

    def add_done_callback(self, callback):
        """callback(self) once the value is there. What it raises is logged."""
        with self._lock:
            if not self.done():
                self._callbacks.append(callback)
                return
        self._call(callback)

    def then(self, callback):
        """A future of callback(self); RuntimeError, with the text, for what that raises."""
        result = Future()

        def run(_):
            try:
                result.set_result(callback(self))
            except Exception as error:
                result.set_exception(RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}"))
        self.add_done_callback(run)
        return result


def collect_all(futures):
    """A future of the list of the futures, once all are done."""
    _check_all(futures)
    result, left = Future(), [len(futures)]
    lock = threading.Lock()

    def one(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            result.set_result(list(futures))
    if not futures:
        result.set_result([])
    for future in futures:
        future.add_done_callback(one)
    return result


def wait_all(futures):
    """The values of all the futures, when they are there."""
    _check_all(futures)
    return [future.wait() for future in futures]


def _check_all(futures):
    if any(future is None for future in futures):
        raise RuntimeError("Future can't be None")
