"""Checks for optional packages."""
import importlib.util


def _check_module_exists(name):
    return importlib.util.find_spec(name) is not None
