"""Functions that PyTorch writes in Python, and so has no aten schema of: `nn.functional`, `masked`, `signal.windows`. Their annotations are signatures."""

import inspect
import re
import types
import typing

import torch

from .signature import Overload, Parameter

_ROOTS = ("nn.functional", "masked", "signal.windows")
_SINGLE = ("unravel_index",)
#: Of Python objects and of other devices, or helpers that are seen from outside by accident.
_LEFT_OUT = re.compile(r"boolean_dispatch|assert_\w+|handle_torch_function|\w*masked_tensor|\w*_with_indices|(scaled_)?(grouped|scaled)_mm|\w+_$")
_UNNAMED = ("out", "inplace", "_stacklevel", "distance_function", "options", "layout", "device", "requires_grad")
_RANDOM = re.compile(r"dropout|gumbel")
_WINDOWS = ("kernel_size", "stride", "padding", "dilation", "output_size")
_NAMES = {torch.Tensor: "Tensor", int: "int", float: "float", bool: "bool", str: "str", torch.dtype: "ScalarType"}


def overloads(known: set) -> list[Overload]:
    """One overload per function whose path is not in `known`."""
    found = [f"{root}.{name}" for root in _ROOTS for name in dir(_at(root)) if name[0] != "_"]
    return [_overload(path) for path in (*found, *_SINGLE) if path not in known and _is_function(path)]


def _at(path: str):
    value = torch
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _is_function(path: str) -> bool:
    function, name = _at(path), path.split(".")[-1]
    return isinstance(function, types.FunctionType) and function.__module__.startswith("torch.") and not _LEFT_OUT.fullmatch(name)


def _overload(path: str) -> Overload:
    name = path.removeprefix("nn.functional.").replace(".", "_")
    parameters = [_parameter(name, p) for p in inspect.signature(_at(path)).parameters.values() if p.name not in _UNNAMED]
    return Overload(name, path, tuple(parameters), random=bool(_RANDOM.search(name)), written=True)


def _parameter(function: str, p: inspect.Parameter) -> Parameter:
    kind, size = _type(p), 0
    if "List[int]" in kind and p.name in _WINDOWS:
        dimensions = re.search(r"(\d)d", function)
        size = int(dimensions[1]) if dimensions else 2
    return Parameter(p.name, kind, p.kind is p.KEYWORD_ONLY, p.default is not p.empty, size)


def _type(p: inspect.Parameter) -> str:
    """aten's text of an annotation. Lists that broadcast have none that Python knows, and the first argument is a tensor."""
    annotation = p.annotation
    if p.name == "dtype":
        return "Optional[ScalarType]"
    if annotation is p.empty:
        return "str" if isinstance(p.default, str) else "int" if p.name == "M" else "Tensor" if p.default is p.empty else "Optional[int]"
    members = typing.get_args(annotation) if isinstance(annotation, (types.UnionType, typing._UnionGenericAlias)) else (annotation,)
    kinds = [member for member in members if member not in (None, type(None))]
    if not kinds:
        return "List[int]" if p.default is not None else "Optional[List[int]]"
    if torch.Tensor in kinds:
        text = "Tensor"
    elif int in kinds and float in kinds:
        text = "number"
    elif kinds[0] in _NAMES:
        text = _NAMES[kinds[0]]
    else:
        text = "List[float]" if float in typing.get_args(kinds[0]) else "List[int]"
    return f"Optional[{text}]" if len(kinds) < len(members) or p.default is None else text
