"""Calls in place that PyTorch writes into memory that it writes again, or still reads."""

from dataclasses import replace

import torch

from ..cases.case import Case, TensorSpec, leaves, map_tree
from ..cases.dtypes import EPSILON
from ..cases.layout import plain
from ..cases.observed import Observation
from ..cases.protocol import Item
from ..cases.ship import Unresolved
from ..cases.values import Value
from ..check.properties import ANYTHING, Fault
from ..check.tolerance import close
from ..workers.trial import Trial


def writes_over_itself(kind, item: Item) -> list[Fault]:
    """Whether PyTorch writes in place into a tensor that repeats elements, which it refuses of most operations, and what is left of that is not what it gives out of place."""
    case = item.case
    if getattr(case, "relation", "") != "inplace" or item.expected.raised or not isinstance(case.args[0], TensorSpec):
        return []
    if not any(size > 1 and stride == 0 for size, stride in zip(case.args[0].size, case.args[0].stride)):
        return []
    apart = replace(item.target, paths=[path.rstrip("_") for path in item.target.paths])
    try:
        got = kind.observe(torch, replace(item, target=apart, case=replace(case, relation="call", differentiate=0)))
    except Unresolved:  # what is a method in place only
        return []
    if got.raised:
        return []
    return [] if _alike(item.expected, got) else [Fault(ANYTHING, "written over itself")]


def reads_what_it_wrote(kind, item: Item, got: Observation | None) -> list[Fault]:
    """Whether a call in place gives other numbers where what it reads lies in memory of its own, as `masked_scatter_` of itself, where the subject's are those."""
    case = item.case
    if getattr(case, "relation", "") != "inplace" or item.expected.raised or got is None or got.raised or not isinstance(case.args[0], TensorSpec):
        return []
    read_apart = _read_apart(case)
    if len(read_apart.storages) == len(case.storages):
        return []
    apart = kind.observe(torch, replace(item, case=read_apart))
    if apart.raised or _alike(item.expected, apart) or not _alike(got, apart):
        return []
    return [Fault("inplace", "read after it was written", phase, at) for phase, held in (("values", range(len(apart.values))), ("written", item.expected.written)) for at in held]


def _read_apart(case: Case) -> Case:
    """A call in place with memory of its own for all that it reads beside what it writes."""
    written, storages = case.args[0], list(case.storages)

    def moved(leaf):
        if not isinstance(leaf, TensorSpec) or leaf.storage != written.storage:
            return leaf
        storages.append(storages[leaf.storage])
        return replace(leaf, id=max(spec.id for spec in leaves((case.args, case.kwargs)) if isinstance(spec, TensorSpec)) + len(storages), storage=len(storages) - 1)

    args, kwargs = map_tree(moved, case.args[1:]), map_tree(moved, case.kwargs)
    return replace(case, args=(written, *args), kwargs=kwargs, storages=storages, differentiate=0)


def order_tells(item: Item, function) -> bool:
    """Whether a call leaves something else in what it writes where all its inputs have memory of their own: the order of elements tells, as of
    `masked_scatter_` of itself, and of a running mean of `native_batch_norm` that repeats one number."""
    if item.expected.raised or not item.expected.written:
        return False
    case = replace(plain(item.case), differentiate=0)
    apart = Trial(torch, function, _read_apart(case) if case.relation == "inplace" and isinstance(case.args[0], TensorSpec) else case).run()
    return bool(apart.raised) or not all(at in apart.written and _same(value, apart.written[at]) for at, value in item.expected.written.items())


def _same(one: Value, other: Value) -> bool:
    return one.shape == other.shape and bool(close(one.array(), other.array(), EPSILON.get(one.number_dtype, 0.0)).all())


def _alike(one: Observation, other: Observation) -> bool:
    return all(e.shape == g.shape and close(e.array(), g.array(), EPSILON.get(e.number_dtype, 0.0)).all() for e, g in zip(one.values, other.values) if e and g)
