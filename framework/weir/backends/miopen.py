"""MIOpen, which this build does without."""
from . import switches as _switches

immediate = False
flags = _switches(globals(), immediate=False)


def set_flags(_immediate):
    global immediate
    before, immediate = immediate, _immediate
    return (before,)
