"""What PyTorch does in memory that is none of the call's business."""

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch

from ..cases.case import Case, Decoder, TensorSpec, map_tree, row_major, seen, tensors_of
from ..cases.dtypes import EPSILON
from ..cases.objects import ModuleCase
from ..cases.protocol import Item
from ..cases.values import Value
from ..check.properties import ANYTHING, Fault


def with_behind(case: Case, junk: bytes) -> Case:
    """The call with `junk` behind the numbers of each storage."""
    return replace(case, storages=[(dtype, data + junk) for dtype, data in case.storages])


def reads_between(kind, item: Item) -> list[Fault]:
    """Whether a module's answer changes with what lies between the rows of an input, where its last axis ends: as where a label that is no class is looked up in
    a row all the same."""
    if not isinstance(item.case, ModuleCase) or item.expected.raised:
        return []
    answers = [kind.observe(torch, replace(item, case=_apart(item.case, junk))) for junk in (0.5, -3.0)]
    if any(got.raised for got in answers):
        return []
    first, second = (got.by_label() for got in answers)
    changed = [e.label for e in item.expected.entries if isinstance(e.value, Value) and e.value.number_dtype in EPSILON and not e.free
               and (a := first.get(e.label)) and (b := second.get(e.label)) and isinstance(a.value, Value) and isinstance(b.value, Value) and a.value.data != b.value.data]
    return [Fault(ANYTHING, f"{label} changes with what lies between an input's rows") for label in changed]


def _apart(case: ModuleCase, junk: float) -> ModuleCase:
    """The case with `junk` behind each row of its floating inputs, as long as the row."""
    storages = list(case.storages)

    def leaf(value):
        if not isinstance(value, TensorSpec) or value.dtype not in ("float32", "float64") or not value.size:
            return value
        dtype, data = case.storages[value.storage]
        numbers = seen(np.frombuffer(data, dtype), value)
        rows = np.concatenate([numbers, np.full_like(numbers, junk)], axis=-1)
        storages.append((dtype, rows.tobytes()))
        return replace(value, stride=row_major(rows.shape), offset=0, storage=len(storages) - 1)

    return replace(case, inputs=map_tree(leaf, case.inputs), named=map_tree(leaf, case.named), storages=storages)


def reads_old_sizes(kind, item: Item) -> list[Fault]:
    """What changes where a number without axes is what is left of one element: PyTorch reads the extent of an axis that is no longer there, in norms
    along it."""
    case = item.case
    if not isinstance(case, Case) or case.relation != "call" or item.expected.raised or all(spec.size for spec in tensors_of(case)):
        return []
    got = kind.observe(torch, item, _with_squeezed_numbers)
    return [] if got.raised else [fault for fault in kind.faults(item, got) if fault.phase]


def _with_squeezed_numbers(function):
    def squeezed(leaf):
        return leaf.unsqueeze(0).clone().squeeze_() if isinstance(leaf, torch.Tensor) and not leaf.dim() else leaf

    return lambda *args, **kwargs: function(*map_tree(squeezed, args), **map_tree(squeezed, kwargs))


def writes_behind(item: Item) -> list[Fault]:
    """Whether PyTorch writes behind the memory of its inputs, as `native_batch_norm` does where running statistics have too few numbers."""
    if not isinstance(item.case, Case) or item.expected.raised or item.case.relation == "autocast":
        return []
    longer = with_behind(item.case, _UNWRITTEN)
    decoder = Decoder(torch, longer.storages)
    try:
        with torch.no_grad():
            item.target.resolve(torch)(*decoder.decode(longer.args), **decoder.decode(longer.kwargs))
    except Exception:  # it may refuse another time; what it wrote before is asked all the same
        pass
    kept = all(data.endswith(longer.storages[storage][1][len(item.case.storages[storage][1]):len(data)]) for storage, data in decoder.memory())
    if kept:
        return []
    if item.case.relation == "out":  # of which its other answer is known
        return [Fault("out", "written behind out=", "values", i) for i in range(len(item.expected.values))]
    return [Fault(ANYTHING, "written behind the memory of an input")]


def truths_unset(kind, item: Item) -> list[Fault]:
    """Which truths PyTorch gives that nobody wrote. It fills memory with truth where it may tell, which shows nothing of what is true already: the same
    bytes as numbers do."""
    if not isinstance(item.case, Case) or item.expected.raised or all(value is None or value.dtype != "bool" for value in item.expected.values):
        return []
    numbers = replace(item, case=_as_numbers(item.case))
    plain = kind.observe(torch, numbers)
    with filled():
        full = kind.observe(torch, numbers)
    if plain.raised or full.raised:
        return []
    return [Fault("value", "nobody wrote it", "values", i) for i, (e, p, f) in enumerate(zip(item.expected.values, plain.values, full.values))
            if e and p and f and e.dtype == "bool" and p.dtype == "uint8" and p.shape == f.shape and (p.array() != f.array()).any()]


def _as_numbers(case: Case) -> Case:
    """The call with bytes in the place of truths."""
    def number(leaf):
        return replace(leaf, dtype="uint8") if isinstance(leaf, TensorSpec) and leaf.dtype == "bool" else leaf

    storages = [("uint8" if dtype == "bool" else dtype, data) for dtype, data in case.storages]
    return replace(case, args=map_tree(number, case.args), kwargs=map_tree(number, case.kwargs), storages=storages, differentiate=0)


@contextmanager
def filled():
    """PyTorch fills memory that it allocates, with the largest integers."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


_UNWRITTEN = b"\xa5" * 4096
