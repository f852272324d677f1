"""Checks for optional packages."""
import importlib.util


def _check_module_exists(name):
    """Whether `import name` would find a module; parents of a dotted name are imported. False where one of them is missing."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
