"""Looks up ops of the C++ core, so that a functional form can be the op itself without a wrapper."""

import weir


def op(module: str, name: str):
    """The callable `name` of `weir._C.ops[module]`, or of another module when that one lacks it.

    An op that this build lacks becomes a function that raises NotImplementedError when called, so that one
    missing kernel never keeps the package from importing.
    """
    for table in (weir._C.ops.get(module, {}), *weir._C.ops.values()):
        if name in table:
            return table[name]
    return _missing(module, name)


def has_op(module: str, name: str) -> bool:
    """Whether the core has the op."""
    return name in weir._C.ops.get(module, {})


def _missing(module: str, name: str):
    def missing(*args, **kwargs):
        raise NotImplementedError(f"{name}: this build has no such op in {module}")

    missing.__name__ = name
    return missing
