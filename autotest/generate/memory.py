"""What PyTorch does in memory that is none of the call's business."""

from contextlib import contextmanager
from dataclasses import replace

import torch

from ..cases.case import Case, Decoder, TensorSpec, map_tree
from ..cases.protocol import Item
from ..check.properties import ANYTHING, Fault


def with_behind(case: Case, junk: bytes) -> Case:
    """The call with `junk` behind the numbers of each storage."""
    return replace(case, storages=[(dtype, data + junk) for dtype, data in case.storages])


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
