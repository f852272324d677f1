"""Watching backward for NaN: the error names the node, and the lines of the program that made it in forward.

Source: https://pytorch.org/docs/stable/autograd.html#anomaly-detection
"""
from _weir import _anomaly_enabled, _set_anomaly


class set_detect_anomaly:
    """Watching as `mode` says: from now on, and until exit when used with `with`. RuntimeError where a gradient holds NaN."""

    def __init__(self, mode, check_nan=True):
        self._before = _anomaly_enabled()
        _set_anomaly(bool(mode and check_nan))

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        _set_anomaly(self._before)


class detect_anomaly:
    """Watches for the length of a `with` block."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        self._before = _anomaly_enabled()
        _set_anomaly(bool(self.check_nan))

    def __exit__(self, *exc):
        _set_anomaly(self._before)
