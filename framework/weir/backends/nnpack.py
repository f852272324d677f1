"""NNPACK, which this build does without."""
from . import switches as _switches

enabled = False
flags = _switches(globals(), enabled=False)


def is_available():
    return False


def set_flags(_enabled):
    global enabled
    before, enabled = enabled, _enabled
    return (before,)
