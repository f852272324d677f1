"""Data for the next steps, made while this one runs."""

import threading

from weir import _C


def prefetch(iterable, credits=2):
    """Returns an iterator over `iterable`, whose items a thread makes up to `credits` ahead. A plan runs without Python's lock, so
    the next batch is loaded meanwhile.

    Items come in their order; what the iterable raises is raised where its item would have come. Closing the iterator, or letting go
    of it, ends the thread. ValueError for less than one credit.
    """
    if not isinstance(credits, int) or isinstance(credits, bool) or credits < 1:
        raise ValueError(f"prefetch: expected a positive number of credits, got {credits!r}")
    return _items(iter(iterable), _C._Channel(credits))


def _items(iterator, channel):
    thread = threading.Thread(target=_produce, args=(iterator, channel), name="prefetch", daemon=True)
    thread.start()
    try:
        while (got := channel.take()) is not None:
            item, error = got
            if error is not None:
                raise error
            yield item
    finally:
        channel.close()
        thread.join()


def _produce(iterator, channel):
    try:
        for item in iterator:
            if not channel.put((item, None)):
                return
    except BaseException as error:  # the consumer's to raise
        channel.put((None, error))
    finally:
        channel.close()
