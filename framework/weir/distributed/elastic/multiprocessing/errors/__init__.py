"""Records of what a process failed with."""


def record(fn=None, error_handler=None):
    """fn itself: there is no launcher that would collect the record."""
    return fn if fn is not None else lambda f: f


class ChildFailedError(Exception):
    """Never raised here; programs name it in `except`."""
