"""The two tables that composites enter, and the one wrapper they share.

A name that the C++ core already has keeps the core's op: composites fill gaps and never shadow.
"""

import functools
import inspect

from weir import _C
from weir._C import Tensor

functions: dict = {}  # name -> function of the package
methods: dict = {}    # name -> method of Tensor


def composite(function=None, *, aliases=(), method=True, inplace=False, public=True):
    """Enters a function as `weir.<name>`, and as Tensor method and `<name>_` when asked.

    It gains `out=`, and a TypeError when its first parameter is annotated Tensor and gets something else.
    """
    if function is None:
        return functools.partial(composite, aliases=aliases, method=method, inplace=inplace, public=public)
    wrapped = _with_out(function)
    for name in (function.__name__, *aliases):
        if public:
            functions.setdefault(name, wrapped)
        if method:
            methods.setdefault(name, wrapped)
        if inplace:
            in_place = _in_place(wrapped, name)
            methods.setdefault(in_place.__name__, in_place)
            if public:
                functions.setdefault(in_place.__name__, in_place)
    return wrapped


def alias(name: str, target: str) -> None:
    """Gives the core's op `target`, its method and its in-place form a second name."""
    op = _C.ops["torch"].get(target) or functions.get(target)
    if op is None:
        return
    functions.setdefault(name, op)
    methods.setdefault(name, op)
    if hasattr(Tensor, target + "_") or target + "_" in methods:
        methods.setdefault(name + "_", getattr(Tensor, target + "_", None) or methods[target + "_"])


def install() -> None:
    """Drops the names that the core has and attaches the methods to Tensor."""
    for name in [n for n in functions if n in _C.ops["torch"]]:
        del functions[name]
    for name in [n for n in methods if n in Tensor.__dict__]:
        del methods[name]
    for name, function in methods.items():
        _C._add_method(name, function)


def _with_out(function):
    first = next(iter(inspect.signature(function).parameters.values()), None)
    wants_tensor = first is not None and first.annotation is Tensor

    @functools.wraps(function)
    def wrapped(*args, out=None, **kwargs):
        if wants_tensor and args and not isinstance(args[0], Tensor):
            raise TypeError(f"{function.__name__}(): argument '{first.name}' (position 1) must be Tensor, "
                            f"not {type(args[0]).__name__}")
        result = function(*args, **kwargs)
        return result if out is None else _write(result, out)

    return wrapped


def _write(result, out):
    if isinstance(out, Tensor):
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)
    for part, target in zip(result, out):
        _write(part, target)
    return type(out)(out) if type(out) in (tuple, list) else out


def _in_place(function, name):
    def in_place(self, *args, **kwargs):
        # A gradient formula may read self, which is about to be overwritten: it gets a copy to keep.
        source = self.clone() if self.requires_grad else self
        return self.copy_(function(source, *args, **kwargs))

    in_place.__name__ = name + "_"
    in_place.__doc__ = f"`{name}` in place."
    return in_place
