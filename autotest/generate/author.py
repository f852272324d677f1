"""Writes batches of cases on the oracle's side: draws a call, runs it in PyTorch, keeps what was observed."""

import re
import zlib
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import torch

from ..cases import dtypes
from ..cases.case import Case, Named, TensorSpec, leaves, row_major, tensors_of
from ..cases.protocol import Item
from ..cases.target import Target
from ..workers.trial import Trial
from . import arguments, fill, gauge, grow
from .choices import Choices
from .signature import Overload
from .universe import overloads

#: Ways of calling, drawn in this proportion where an overload has them.
_RELATIONS = ("call",) * 5 + ("inplace", "inplace", "out", "out", "autocast")
#: Stands in the universe for programs of several calls.
PROGRAM = Overload("program", "program", ())
_ERRORS_PER_TEMPLATE = 2  # calls kept that fail at the same check of the oracle


@dataclass
class Batch:
    """Cases of one overload in one dtype. `valid` of `made` calls were accepted by the oracle."""

    items: list[Item] = field(default_factory=list)
    made: int = 0
    valid: int = 0


class Author:
    """Makes batches. The same overload, dtype and index always give the same case."""

    def __init__(self):
        self._overloads = {overload.name: overload for overload in overloads()} | {PROGRAM.name: PROGRAM}
        self._pool = grow.pool(list(overloads()))

    def universe(self) -> list[Overload]:
        return list(self._overloads.values())

    def batch(self, name: str, dtype: str, indices: list[int]) -> Batch:
        """The cases of `indices`. Raises arguments.Impossible where a parameter's type is beyond the generator."""
        batch = Batch()
        seen: dict = {}
        for index in indices:
            for item in self._items(name, dtype, Choices(zlib.crc32(f"{name}/{dtype}/{index}".encode())), index):
                _take(batch, item, seen)
        return batch

    def replay(self, name: str, dtype: str, choices: tuple) -> list[Item]:
        """The cases that a sequence of choices makes."""
        return self._items(name, dtype, Choices(replay=choices), 0)

    def _items(self, name: str, dtype: str, choices: Choices, index: int) -> list[Item]:
        if name == PROGRAM.name:
            return grow.grow(self._pool, dtype, choices, index)
        return [self.item(self._overloads[name], dtype, choices, index)]

    def item(self, overload: Overload, dtype: str, choices: Choices, index: int = 0) -> Item:
        """One case and its expectation."""
        relation = choices.pick(_relations(overload))
        order = choices.pick((1, 1, 2, 0)) if relation != "out" else 0  # out= refuses inputs that require gradients
        case = replace(arguments.make(overload, dtype, choices, grad=0.6 if order else 0.04),
                       relation=relation, differentiate=order, process=gauge.determined(overload.path))
        target = Target(f"torch.{overload.path}", [overload.path])
        if relation == "inplace":
            target = Target(f"torch.{overload.inplace}", [overload.inplace])
        function = target.resolve(torch)
        if relation == "out":
            case = _with_out(case, function, choices)
        torch.manual_seed(0)
        before = torch.get_rng_state()
        expected = Trial(torch, function, case).run()
        draws = overload.random or not torch.equal(before, torch.get_rng_state())
        unfilled = "empty" in overload.path or "resize" in overload.path
        free = draws or unfilled or case.process is not None or _undefined_cast(case)
        return Item(index, target, case, expected, free, tuple(choices.made), draws, overload.pointwise)


def _take(batch: Batch, item: Item, seen: dict) -> None:
    """Adds `item` to the batch, unless the oracle has no opinion, or has refused like calls already."""
    expected = item.expected
    if expected.raised is None and not getattr(expected, "unmappable", None):
        batch.valid += 1
    elif expected.raised is None or _absent(expected.raised):
        return
    batch.made += 1
    if expected.raised is None or _new_template(expected.raised.message, seen):
        batch.items.append(item)


def _undefined_cast(case: Case) -> bool:
    """Whether numbers may be cast to integers that cannot hold them, which C++ leaves undefined."""
    asked = [leaf.name for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, Named) and leaf.kind == "dtype"]
    asked += [spec.dtype for spec in tensors_of(case)]
    if not any(dtype in _INTEGERS for dtype in asked):
        return False
    numbers = [leaf for leaf in leaves((case.args, case.kwargs)) if isinstance(leaf, (int, float))]
    if "uint8" in asked and any(number < 0 for number in numbers):
        return True
    for dtype, data in case.storages:
        if dtype in dtypes.EPSILON:
            numbers = np.abs(dtypes.to_array(data, dtype))
            if not np.all(np.isfinite(numbers)) or np.any(numbers > 100) or (
                    "uint8" in asked and np.any(dtypes.to_array(data, dtype).real < 0)):
                return True
    return False


_INTEGERS = {"uint8", "int8", "int16", "int32", "int64"}


def _relations(overload: Overload) -> list[str]:
    has = {"call": True, "inplace": bool(overload.inplace), "out": bool(overload.out), "autocast": True}
    return [relation for relation in _RELATIONS if has[relation]]


def _with_out(case: Case, function, choices: Choices) -> Case:
    """The call with `out=` tensors like its results, or of a size or dtype to be refused or resized."""
    plain = replace(case, relation="call", differentiate=0)
    results = Trial(torch, function, plain).run().values if not choices.chance(0.02) else []
    tensors = [value for value in results if value is not None and dtypes.is_known(value.dtype)]
    case = replace(case, storages=list(case.storages), args=case.args, differentiate=0)
    first = max((spec.id for spec in tensors_of(case)), default=-1) + 1
    outs = [_out_like(case, first + i, value, choices) for i, value in enumerate(tensors)]
    if not outs:
        return case
    return replace(case, kwargs={**case.kwargs, "out": outs[0] if len(outs) == 1 else tuple(outs)})


def _out_like(case: Case, identity: int, value, choices: Choices) -> TensorSpec:
    size, dtype = value.shape, value.dtype
    how = choices.pick(("same",) * 6 + ("empty", "transposed", "wider", "integer"))
    size = (0,) if how == "empty" else size
    dtype = {"wider": "float64", "integer": "int64"}.get(how, dtype)
    stride = row_major(size[::-1])[::-1] if how == "transposed" else row_major(size)
    case.storages.append((dtype, fill.data(dtype, "whole", 0, prod(size))))
    return TensorSpec(identity, dtype, size, stride, 0, len(case.storages) - 1, False)


def _absent(raised) -> bool:
    """Whether the oracle lacks the operation on the CPU, and so has no opinion."""
    return raised is not None and raised.message.startswith("Could not run 'aten::")


def _new_template(message: str, seen: dict) -> bool:
    """Whether a call failing with `message` asks something that few calls before it asked."""
    template = re.sub(r"\[[^]]*\]|\([^)]*\)|-?\d+(\.\d+)?|'[^']*'", "#", message.split("\n")[0])[:120]
    seen[template] = seen.get(template, 0) + 1
    return seen[template] <= _ERRORS_PER_TEMPLATE


