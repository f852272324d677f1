"""Modules of `torch.distributed` of which weir has only the names."""
from weir._absent import absent_names

_WHY = "weir has no collectives yet"


def names(package, words):
    """A module `__getattr__` that makes stand-ins for the words."""
    return absent_names(package, words, _WHY)
