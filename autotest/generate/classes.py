"""The classes whose objects are tried, with their constructors' signatures in aten's terms.

Modules, optimizers and schedulers are found in PyTorch's namespaces; none is listed by hand.
"""

import collections.abc
import inspect
import types
import typing
from functools import lru_cache

import torch

from ..cases.objects import Power
from .signature import Overload, Parameter

_CONTAINERS = {"RNNBase", "RNNCellBase", "DataParallel"}  # abstract, or for several devices
_SCALARS = {bool: "bool", int: "int", float: "float", str: "str", torch.Tensor: "Tensor"}
SCHEDULERS = "List[scheduler]"  # the type of a parameter that takes schedulers of the same optimizer
_FUNCTIONS = (None, Power(0.9), Power(0.5), Power(1.0))


@lru_cache(maxsize=1)
def overloads() -> tuple[Overload, ...]:
    """One overload per class, by name."""
    scheduler = torch.optim.lr_scheduler
    found = [_overload(f"nn.{name}", "module", kind) for name, kind in _subclasses(torch.nn, torch.nn.Module)
             if kind.forward is not torch.nn.Module.forward and name not in _CONTAINERS]
    found += [_overload(f"optim.{name}", "optimizer", kind)
              for name, kind in _subclasses(torch.optim, torch.optim.Optimizer)]
    found += [_overload(f"optim.lr_scheduler.{name}", "scheduler", kind)
              for name, kind in _subclasses(scheduler, scheduler.LRScheduler)]
    return tuple(sorted(found, key=lambda overload: overload.name))


def _subclasses(namespace, base: type) -> list:
    return [(name, kind) for name, kind in vars(namespace).items()
            if inspect.isclass(kind) and issubclass(kind, base) and kind is not base and name[0] != "_"]


def _overload(path: str, family: str, kind: type) -> Overload:
    return Overload(path, path, parameters(kind.__init__), family=family)


def parameters(function) -> tuple[Parameter, ...]:
    """The parameters of a Python function whose types mean something to the generator; all by keyword."""
    hints = _hints(function)
    found = []
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or name in ("device", "dtype"):
            continue
        default = parameter.default
        kind, size, options = _type(hints.get(name, type(default)), default)
        if kind or default is parameter.empty:
            found.append(Parameter(name, kind or "unknown", True, default is not parameter.empty, size, options))
    return tuple(found)


def _hints(function) -> dict:
    """The evaluated hints; those that only type checkers import are found where they come from."""
    names = {**vars(typing), **vars(collections.abc), "Optimizer": torch.optim.Optimizer}
    try:
        return typing.get_type_hints(function, localns={**names, **function.__globals__})
    except NameError:
        return {}


def _type(hint, default) -> tuple[str, int, tuple]:
    """aten's text for a hint, the size of a fixed-size list, and the values worth passing where they are few."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        kinds = [_type(member, default) for member in inner if member is not type(None)]
        kind, size, options = next((found for found in kinds if found[0]), ("", 0, ()))
        return (f"Optional[{kind}]" if kind and type(None) in inner else kind), size, options
    if origin is typing.Literal:
        return "str", 0, inner
    if origin is collections.abc.Callable and inner[0] in ([int], [float]):
        return "function", 0, _FUNCTIONS if default is None else _FUNCTIONS[1:]
    if origin in (list, collections.abc.Sequence) and inner[0] is torch.optim.lr_scheduler.LRScheduler:
        return SCHEDULERS, 0, ()
    if origin in (tuple, list, collections.abc.Sequence, collections.abc.Iterable) and inner[0] in (int, float):
        return f"List[{_SCALARS[inner[0]]}]", len(inner) if origin is tuple and ... not in inner else 0, _near(default)
    return _SCALARS.get(hint, ""), 0, _near(default) if hint in (int, float) else ()


def _near(default) -> tuple:
    """Values about a default, which says more of a parameter than its type."""
    if isinstance(default, tuple) and default and all(type(part) is float for part in default):
        return (default, tuple(part / 2 for part in default), tuple(0.0 for _ in default))
    if type(default) is float:
        return (default, default / 2, default * 2, 0.0, 1.0)
    if type(default) is int and default < 0:
        return (default, default, default, 0)
    if type(default) is int:
        return (default, default + 1, max(default - 1, 0), 2 * default, 3)
    return ()
