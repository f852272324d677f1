"""Modules imported when first used: `import weir` must not pay for NumPy, zip files or process pools."""
import importlib


class LazyModule:
    """Stands for a module and imports it at the first attribute."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, attribute):
        value = getattr(importlib.import_module(self._name), attribute)
        self.__dict__[attribute] = value
        return value


np = LazyModule("numpy")


def lazy_attributes(package, origins):
    """A module `__getattr__` for `package`: name -> submodule that holds it ("" when the name is the submodule)."""
    def __getattr__(name):
        if name not in origins:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = importlib.import_module(f"{package}.{origins[name] or name}")
        return getattr(module, name) if origins[name] else module
    return __getattr__
