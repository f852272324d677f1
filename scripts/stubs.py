"""Type stubs from the op signatures: functions by module, and the methods of Tensor."""

import keyword
import re
from itertools import groupby

HEADER = '''"""Generated from the op signatures by scripts/update_schema.py; do not edit."""

from typing import NamedTuple, Sequence, overload

from ._C import Generator, Tensor, device, dtype, memory_format

Number = int | float | bool
'''
# Where the ops of a module are found: these are namespaces of the stub, `torch` is its top level.
NAMESPACES = {"nn.functional": "functional", "special": "special", "linalg": "linalg"}


def module(ops: list[dict]) -> str:
    """Returns the text of `_stubs.pyi`. `ops` are those of `weir.schema()`, overloads side by side."""
    results = [text for op in ops if (text := _result_class(op))]
    top = _functions([op for op in ops if op["module"] == "torch"], free=True)
    parts = [HEADER, *results, "\n".join(top) + "\n"]
    for name, space in NAMESPACES.items():
        parts.append(_class(space, _functions([op for op in ops if op["module"] == name], free=True, static=True)))
    parts.append(_class("TensorOps", _functions([op for op in ops if is_method(op)], free=False)))
    return "\n\n".join(part.rstrip("\n") + "\n" for part in parts)


def is_method(op: dict) -> bool:
    """Whether Tensor has the op as a method: as the binding decides, by module and first parameter."""
    return op["module"] in ("torch", "method") and bool(re.search(r"\(input: Tensor\b", op["signature"]))


def _class(name: str, body: list[str]) -> str:
    return f"class {name}:\n" + "\n".join("    " + line for line in body or ["pass"]) + "\n"


def _functions(ops: list[dict], free: bool, static: bool = False) -> list[str]:
    """Returns the lines of all functions; with `free`, as functions with out=, else as methods and in-place ones."""
    lines = []
    for name, group in groupby(ops, key=lambda op: op["name"].split(".")[0]):
        overloads = list(group)
        lines += _overloaded(name, overloads, free, static)
        inplace = [op for op in overloads if op["inplace"]]
        if inplace and not free:
            lines += _overloaded(name + "_", inplace, free, static)
    return lines


def _overloaded(name: str, ops: list[dict], free: bool, static: bool) -> list[str]:
    marks = ["@staticmethod"] * static + ["@overload"] * (len(ops) > 1)
    return [line for op in ops for line in (*marks, _definition(name, op, free))]


def _definition(name: str, op: dict, free: bool) -> str:
    params, returns = re.fullmatch(r"[\w.]+\((.*)\) -> (.*)", op["signature"]).groups()
    shown = [_parameter(p) for p in params.split(", ") if p]
    if not free:
        shown[0] = "self"
    elif op["kind"] != "view" and not returns.startswith("list"):
        shown += _out(shown, returns)
    result = returns if not returns.startswith("(") else _result_name(op)
    return f"def {name}({', '.join(shown)}) -> {result}: ..."


def _parameter(text: str) -> str:
    if text == "*":
        return text
    name, _, rest = text.partition(": ")
    kind, equals, default = rest.partition(" = ")
    kind = kind.replace("list[", "Sequence[")
    if keyword.iskeyword(name):
        name += "_"  # as in PyTorch's stubs: `from` cannot be spelled
    if name.startswith("*"):
        kind += " | Sequence[int]"
    return f"{name}: {kind}{equals}{default}"


def _out(params: list[str], returns: str) -> list[str]:
    count = returns.count(": ") if returns.startswith("(") else 1
    kind = "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"
    keyword_only = any(p.startswith("*") for p in params)
    return ([] if keyword_only else ["*"]) + [f"out: {kind} | None = None"]


def _result_name(op: dict) -> str:
    return "_" + op["name"].replace(".", "_") + "_result"


def _result_class(op: dict) -> str:
    """Returns the named tuple of an op with several results, or nothing."""
    returns = op["signature"].split(") -> ")[1]
    if not returns.startswith("(") or op["module"] == "hidden":
        return ""
    return f"class {_result_name(op)}(NamedTuple):\n" + "".join(f"    {r}\n" for r in returns[1:-1].split(", "))
