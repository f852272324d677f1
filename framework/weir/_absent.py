"""Names of PyTorch's whose function weir has not: they import, and using one raises NotImplementedError."""


class _AbsentType(type):
    """A class that cannot be called. `isinstance` against it is False, subclassing and annotating with it work.

    Its public members are stand-ins too, always the same one for a name: programs write members of enumerations into
    defaults and tables, and methods of classes into functions that never run.
    """

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(f"type object '{cls.__qualname__}' has no attribute '{name}'")
        kind = next(c for c in cls.__mro__ if "__weir_missing__" in c.__dict__)
        if kind is not cls:  # a subclass that the program wrote
            return getattr(kind, name)
        value = member(f"{cls.__qualname__.partition('.')[2]}.{name}", cls.__weir_missing__)
        setattr(cls, name, staticmethod(value) if value is _no else value)
        return value

    def __call__(cls, *args, **kwargs):
        if cls.__dict__.get("__weir_missing__") is None:  # a subclass that the program wrote
            return super().__call__(*args, **kwargs)
        raise NotImplementedError(f"{cls.__qualname__}: {cls.__weir_missing__}")

    def __repr__(cls):
        return f"<{cls.__qualname__}, which weir has not>"


def absent(name, why="weir does not have it", base=object):
    """A stand-in for the class or function `name`. Calling it raises NotImplementedError with `why`.

    What is called an error or a warning can stand in an `except`. `__weir_missing__` on it tells tools, such as `weir.compat`,
    that the name has no function.
    """
    if base is object and name.endswith(("Error", "Exception", "Warning")):
        base = Exception
    return _AbsentType(name.rpartition(".")[2], (base,), {
        "__weir_missing__": why, "__qualname__": f"torch.{name}", "__module__": "torch", "__init__": _refuse})


def member(name, why):
    """A stand-in for what a module or class holds that is missing; of a question whether something is there the answer."""
    last = name.rpartition(".")[2]
    return _no if last.startswith("has_") or last.startswith("is_") and last.endswith("available") else absent(name, why)


def _no(*args, **kwargs):
    """False: there are names only."""
    return False


def _refuse(self, *args, **kwargs):
    kind = next(c for c in type(self).__mro__ if "__weir_missing__" in c.__dict__)
    raise NotImplementedError(f"{kind.__qualname__}: {kind.__weir_missing__}")


def absent_names(package, names, why, otherwise=None):
    """A module `__getattr__` that makes stand-ins for the words of `names`; others go to `otherwise` or are errors."""
    import sys
    known = frozenset(names.split())
    prefix = package.partition(".")[2]

    def __getattr__(name):
        if name not in known:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = absent(f"{prefix}.{name}" if prefix else name, why)
        setattr(sys.modules[package], name, value)
        return value
    return __getattr__


class PassThrough:
    """A decorator, with or without arguments, and context manager whose absence changes no result."""

    def __new__(cls, fn=None, *args, **kwargs):
        if callable(fn) and not args and not kwargs:
            return fn
        return super().__new__(cls)

    def __call__(self, fn):
        return fn

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None
