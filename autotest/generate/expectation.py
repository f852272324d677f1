"""What PyTorch makes of a case: the item that a subject is then judged by."""

import re
from dataclasses import replace

import torch

from ..cases.case import Case
from ..cases.protocol import Item
from ..cases.target import Target
from ..check.reference import in_single
from ..workers.kinds import kind_of
from ..workers.seeding import seed
from ..workers.trial import Trial
from . import casts, gauge


#: Names of what returns memory that nobody wrote: of its result only dtype, shape and strides mean anything.
_UNFILLED = re.compile(r"\b(new_)?(empty|resize)")


def expectation(target: Target, case, index: int = 0, draws: bool = False, **facts) -> Item:
    """`case` with what PyTorch observes; `facts` are further fields of the item.

    `draws`: the operation is known to draw random numbers, whether or not this call moves the generator.
    """
    seed(torch)
    before = torch.default_generator.get_state()
    item = Item(index, target, case, None, **facts)
    item.expected = kind_of(item).observe(torch, item)
    item.draws = draws or not (item.expected.raised or torch.equal(before, torch.default_generator.get_state()))
    item.random = item.draws or any(_UNFILLED.search(name) for name in (target.label, *target.paths))
    if isinstance(case, Case):
        item.random |= case.process is not None
        item.decomposes = item.decomposes or any(gauge.decomposes(path) for path in target.paths)
        item.decomposes &= not any(gauge.multiplies(path, case) for path in target.paths)
        if case.relation == "autocast":
            item.case = replace(case, casts=_casts(item))
        item.expected.undefined = {} if item.random else casts.undefined(case, target.resolve(torch), item.expected)
    return item


def _casts(item: Item) -> bool:
    """Whether the oracle's answer under autocast is another than without it, and than in single precision, to which some operations cast."""
    plain = replace(item.case, relation="call", differentiate=0)
    function = item.target.resolve(torch)
    return all(Trial(torch, function, case).run().values != item.expected.values for case in (plain, in_single(plain)))


def determined(path: str, case):
    """`case` with what of its result is determined, where that is not all."""
    process = gauge.determined(path) if isinstance(case, Case) else None
    return replace(case, process=process) if process else case
