"""Checks for optional packages."""
import functools
import importlib.util


def _check_module_exists(name):
    """Whether `import name` would find a module; parents of a dotted name are imported. False where one of them is missing."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@functools.cache
def dill_available():
    """Is the package dill, which pickles more than Python does, installed?"""
    return _check_module_exists("dill")
