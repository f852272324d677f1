"""Writes batches of cases on the oracle's side: draws a call, runs it in PyTorch, keeps what was observed."""

import zlib
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import torch

from ..cases import dtypes
from ..cases.case import Case, TensorSpec, map_tree, row_major, tensors_of
from ..cases.protocol import Item
from ..cases.target import Target
from ..check.properties import WAYS
from ..workers import draws, repeat
from ..workers.kinds import kind_of
from ..workers.trial import Trial
from . import arguments, classes, fill, gauge, grow, objects, odd, plans, samples, surface, vary
from .choices import Choices
from .expectation import expectation
from .signature import Overload
from .universe import overloads, renamed

#: Ways of calling, drawn in this proportion where an overload has them.
_RELATIONS = ("call",) * 5 + ("inplace", "inplace", "out", "out", "autocast")
_ORDERS = (1, 1, 2, 0)  # of the derivatives asked for
#: How often a call is tried for a property that nothing asked for yet. PyTorch refuses few calls of some operations.
_TRIES = {"value": 80, "error": 80, "layout": 32, "determinism": 32, "random": 8, "inplace": 32, "out": 32, "autocast": 32, "gradient": 8, "gradgrad": 8}
_BEYOND = 1 << 24  # the index of the first of such calls, which no batch reaches
#: Stands in the universe for programs of several calls.
PROGRAM = Overload("program", "program", (), family="program")
_FROM_DATABASE = 0.33  # how often a call starts from a sample of the op database, where there is one
_SAMPLED = 1  # of the random calls of a batch, how many have their distribution tested: it takes thousands of calls


@dataclass
class Batch:
    """Cases of one overload in one dtype, of which the oracle accepted `valid`."""

    items: list[Item] = field(default_factory=list)
    valid: int = 0


class Author:
    """Makes batches. The same overload, dtype and index always give the same case."""

    def __init__(self):
        self._overloads = {overload.name: overload for overload in (*overloads(), *surface.overloads(), *classes.overloads(), *plans.overloads(), PROGRAM)}
        self._pool = grow.pool([overload for overload in overloads() if not overload.written and overload.operation not in renamed()])

    def universe(self) -> list[Overload]:
        return list(self._overloads.values())

    def batch(self, name: str, dtype: str, indices: list[int]) -> Batch:
        """The cases of `indices`. Raises arguments.Impossible where a parameter's type is beyond the generator."""
        batch = Batch()
        for index in indices:
            for item in self._items(name, dtype, Choices(zlib.crc32(f"{name}/{dtype}/{index}".encode())), index):
                _take(batch, item)
        return _sampled(batch)

    def reach(self, name: str, dtype: str, missing: set) -> Batch:
        """Further calls, for the properties `missing` that those of a batch did not happen to ask for: each is tried a few times. So a
        property does not go untested because the dice fall otherwise once the generator changes.

        Raises arguments.Impossible as `batch`.
        """
        overload, batch, asked = self._overloads[name], Batch(), set()
        for wanted in _sought(overload, dtype, missing):
            for at in range(_TRIES[wanted]):
                if wanted in asked:
                    break
                item = self.item(overload, dtype, _towards(overload, dtype, wanted, at), _BEYOND + repeat.EVERY * at)
                shown = set(kind_of(item).asked(item))
                if wanted in shown and _take(batch, item):
                    asked |= shown
        return _sampled(batch)

    def replay(self, name: str, dtype: str, choices: tuple) -> list[Item]:
        """The cases that a sequence of choices makes."""
        items = self._items(name, dtype, Choices(replay=choices), 0)
        for item in items:
            item.drawn = drawn(item) if _varies(item) else None
        return items

    def _items(self, name: str, dtype: str, choices: Choices, index: int) -> list[Item]:
        overload = self._overloads[name]
        if overload is PROGRAM:
            return grow.grow(self._pool, dtype, choices, index)
        if overload.family not in ("", surface.FAMILY, plans.FAMILY):
            return [objects.item(overload, dtype, choices, index)]
        return [self.item(overload, dtype, choices, index)]

    def item(self, overload: Overload, dtype: str, choices: Choices, index: int = 0) -> Item:
        """One case and its expectation."""
        relation = choices.pick(_relations(overload))
        order = choices.pick(_ORDERS) if relation != "out" else 0  # out= refuses inputs that require gradients
        case = self._call(overload, dtype, choices, grad=0.6 if order else 0.04)
        case.relation, case.differentiate, case.process = relation, order, gauge.determined(overload.path)
        target = Target(f"torch.{overload.path}", [overload.path])
        if relation == "inplace":
            target = Target(f"torch.{overload.inplace}", [overload.inplace])
        if relation == "out":
            case = _with_out(case, target.resolve(torch), choices)
        if relation == "autocast":
            case = _behind_another(case, choices)
        odder = odd.oddly(case, choices) if overload.family != plans.FAMILY else case  # whose plans are no arguments

        def expected(case: Case) -> Item:
            return expectation(target, case, index, draws=overload.random, choices=tuple(choices.made),
                               pointwise=overload.pointwise, decomposes=gauge.decomposes(overload.path))

        item = expected(odder)
        # A function written in Python checks no types: what it happens to stumble over is nobody's contract.
        return expected(case) if overload.written and odder is not case and item.expected.raised else item

    def _call(self, overload: Overload, dtype: str, choices: Choices, grad: float) -> Case:
        """A call by the signature, or a sample of the op database with some changes."""
        if overload.family == plans.FAMILY:
            return plans.make(overload, dtype, choices, grad)
        if overload.family == surface.FAMILY:
            return surface.make(overload, dtype, choices, grad)
        known = samples.samples_of(overload, dtype)
        if not known or not choices.chance(_FROM_DATABASE):
            try:
                return arguments.make(overload, dtype, choices, grad)
            except arguments.Impossible:
                if not known:
                    raise
        sample = choices.pick(known)
        if not choices.chance(grad):
            sample = sample.without_gradients()
        made = vary.varied(sample, overload, dtype, choices)
        return Case(*made.trees, made.storages)


def _sought(overload: Overload, dtype: str, missing: set) -> list[str]:
    """Those of the properties that calls of the overload may ask for."""
    if overload.family not in ("", surface.FAMILY, plans.FAMILY):
        return []
    ways = set(_relations(overload))
    can = {**{way: way in ways for way in WAYS}, "random": overload.random,
           **dict.fromkeys(("gradient", "gradgrad"), dtype in dtypes.EPSILON)}
    return [name for name in _TRIES if name in missing and can.get(name, True)]


def _towards(overload: Overload, dtype: str, wanted: str, at: int) -> Choices:
    """Choices whose first, of the way of calling and of the order of gradients, may lead to the property `wanted`."""
    relations = _relations(overload)
    way = wanted if wanted in WAYS else relations[-1 - at % len(relations)] if wanted == "error" else "call"
    order = {"gradient": 1, "gradgrad": 2}.get(wanted, 0)
    first = (relations.index(way), *([_ORDERS.index(order)] if way != "out" else []))
    return Choices(zlib.crc32(f"{overload.name}/{dtype}/{wanted}/{at}".encode()), replay=first)


def _sampled(batch: Batch) -> Batch:
    """`batch`, in which some of the random calls know their distribution."""
    for item in [item for item in batch.items if _varies(item)][:_SAMPLED]:
        item.drawn = drawn(item)
    return batch


def drawn(item: Item, calls: int = draws.CALLS):
    """What so many calls of the item draw; None where it draws nothing, or is called in a way that hides it."""
    if not item.draws or item.expected.raised or item.case.relation not in ("call", "inplace"):
        return None
    return draws.drawn(torch, item.target.resolve(torch), item.case, draws.ORACLE_SEED, calls)


def _varies(item: Item) -> bool:
    """Whether a few calls draw different numbers, as a permutation of one element does not."""
    few = drawn(item, calls=8)
    return few is not None and not all(np.array_equal(call, few[0], equal_nan=True) for call in few)


def _take(batch: Batch, item: Item) -> bool:
    """Adds `item` to the batch, unless the oracle has no opinion."""
    expected = item.expected
    if expected.raised is None and not getattr(expected, "unmappable", None):
        batch.valid += 1
    elif expected.raised is None or _absent(expected.raised):
        return False
    batch.items.append(item)
    return True


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


def _behind_another(case: Case, choices: Choices) -> Case:
    """Perhaps the call whose first tensor is what another operation gave under autocast, so already of the lower precision; weights are not."""
    tensors = tensors_of(case)
    if len(tensors) < 2 or tensors[0].dtype != "float32" or not choices.chance(0.4):
        return case
    first, storages = tensors[0], list(case.storages)
    storages.append(("bfloat16", fill.narrowed(dtypes.to_array(storages[first.storage][1], "float32"), "bfloat16").tobytes()))
    given = replace(first, dtype="bfloat16", storage=len(storages) - 1)

    def leaf(value):
        return given if isinstance(value, TensorSpec) and value.id == first.id else value
    return replace(case, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs), storages=storages)


def _out_like(case: Case, identity: int, value, choices: Choices) -> TensorSpec:
    size, dtype = value.shape, value.dtype
    how = choices.pick(("same",) * 6 + ("empty", "transposed", "wider", "integer", "part", "part", "piece"))
    size = (0,) if how == "empty" or prod(size) > fill.LONGEST else size  # where the call resizes it
    dtype = {"wider": "float64", "integer": "int64"}.get(how, dtype)
    stride = row_major(size[::-1])[::-1] if how == "transposed" else row_major(size)
    if how in ("part", "piece") and 2 * prod(size) < fill.LONGEST:  # a view of larger memory: every other element of it, or those in its middle
        step = 2 if how == "part" else 1
        case.storages.append((dtype, fill.data(dtype, "whole", 0, 2 * prod(size) + 1)))
        return TensorSpec(identity, dtype, size, tuple(step * n for n in stride), 1, len(case.storages) - 1, False)
    case.storages.append((dtype, fill.data(dtype, "whole", 0, prod(size))))
    return TensorSpec(identity, dtype, size, stride, 0, len(case.storages) - 1, False)


def _absent(raised) -> bool:
    """Whether the oracle lacks the operation on the CPU, and so has no opinion."""
    return raised is not None and raised.message.startswith("Could not run 'aten::")
