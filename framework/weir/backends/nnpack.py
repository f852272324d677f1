"""The switch of convolutions by minimal filtering, which PyTorch has NNPACK for and this build does itself, where the CPU has AVX2 or AVX-512.

They round as the largest numbers within four places do; off, every convolution sums its products one by one.
Source: https://docs.pytorch.org/docs/stable/backends.html#module-torch.backends.nnpack
"""
import contextlib

from .. import _C


def is_available():
    """Are there such kernels for this CPU?"""
    return _C.cpu_capability != "baseline"


def set_flags(_enabled):
    """Sets the switch for the whole process, and returns what it was, in a tuple."""
    before = _C._minimal_filtering()
    _C._set_minimal_filtering(bool(_enabled))
    return (before,)


@contextlib.contextmanager
def flags(enabled=False):
    """The switch within a scope."""
    before = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(*before)
