"""The oracle worker of a campaign: writes batches of cases and reruns disputed ones in double precision.

Run as `python -m weir_autotest.generate.service FD MEMORY_GB`.
"""

import pickle
import sys
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial

import torch

from ..cases.case import Case
from ..cases.dtypes import EPSILON
from ..cases.protocol import Item
from ..cases.values import Raised
from ..check.tolerance import close
from ..kinds import kind_of
from ..workers.seeding import seed
from ..workers.subject import limit_memory
from ..workers.trial import Trial
from ..workers.worker import connect, in_children, serve
from . import gauge
from .arguments import Impossible
from .author import Author, drawn


def expect(target, case) -> Item:
    """A stored case with what the oracle observes now."""
    seed(torch)
    before = torch.get_rng_state()
    process = gauge.determined(target.paths[0]) if isinstance(case, Case) else None
    item = Item(0, target, replace(case, process=process) if process else case, None)
    item.expected = kind_of(item).observe(torch, item)
    item.draws = not torch.equal(before, torch.get_rng_state())
    item.random = process is not None or item.draws
    item.drawn = drawn(item) if isinstance(case, Case) else None
    return item


def _differs_with_threads(kind, item: Item) -> bool:
    seed(torch)
    torch.set_num_threads(4)
    try:
        got = kind.observe(torch, item)
    finally:
        torch.set_num_threads(1)
    reruns = []
    for fault in kind.faults(item, got):
        if not fault.phase:
            return True
        reruns = reruns or kind.reruns(torch, item)
        if not kind.granted(fault, item, got, reruns):
            return True
    return False


def _differs_without_out(item: Item) -> bool:
    case = item.case
    if getattr(case, "relation", "") != "out" or item.expected.raised or item.random:
        return False
    plain = replace(case, kwargs={name: value for name, value in case.kwargs.items() if name != "out"}, relation="call")
    values = Trial(torch, item.target.resolve(torch), plain).run().values
    return any(e.dtype == g.dtype and e.shape == g.shape and not close(e.array(), g.array(), EPSILON.get(e.dtype, 0.0)).all()
               for e, g in zip(item.expected.values, values) if e and g)


def _reads_elsewhere(kind, item: Item) -> bool:
    """Whether numbers change with what is none of the call's business: the memory behind an input's storage, or, where
    each element stands for itself, the elements beside it."""
    if not isinstance(item.case, Case) or item.expected.raised:
        return False
    others = []
    for junk in _JUNK:
        longer = [(dtype, data + junk) for dtype, data in item.case.storages]
        others.append(kind.observe(torch, replace(item, case=replace(item.case, storages=longer))))
    if item.pointwise:
        others += [kind.observe(torch, item, partial(one_by_one, company)) for company in (0, _COMPANY)]
    numbers = [replace(item.expected, values=got.values, gradients=got.gradients, second=got.second)
               for got in others if not got.raised]
    # By assert_close's tolerance: double-precision runs of a call that reads elsewhere do so too.
    return any(not fault.phase or not kind.granted(fault, item, got, [])
               for got in numbers for fault in kind.faults(item, got))


_JUNK = b"A" * 1024, b"\xc1" * 1024  # behind a storage: large numbers, above and below most others
_COMPANY = 63  # elements beside one, enough for the loops over vectors


def one_by_one(company: int, function):
    """`function`, an element-wise one, asked of each element alone, or in `company`: of a 2 and copies of itself."""
    def alone(*args, out=None, **kwargs):
        tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, torch.Tensor)]
        shape = torch.broadcast_shapes(*(x.shape for x in tensors))
        if not shape or 0 in shape:
            return function(*args, **kwargs)

        def element(x, i):
            if not isinstance(x, torch.Tensor) or not x.dim():
                return x
            own = x.expand(shape).reshape(-1)[i:i + 1]
            return torch.cat([own.new_full((min(company, 1),), 2), own.expand(max(company, 1))])

        found = [function(*(element(x, i) for x in args), **{key: element(x, i) for key, x in kwargs.items()})[-1]
                 for i in range(shape.numel())]
        result = torch.stack(found).reshape(shape)
        return result if out is None else result.to(out.dtype)

    return alone


def wavers(item: Item) -> bool:
    """Whether the oracle has more than one answer: from run to run, with the heap filled differently before each; with what
    lies beside its inputs; by more than rounding with the number of threads, by which it chooses among algorithms; or with
    `out=` and without."""
    kind = kind_of(item)
    if (kind.repeated(torch, item) or _differs_with_threads(kind, item) or _differs_without_out(item)
            or _reads_elsewhere(kind, item)):
        return True
    for fill in (0.0, 7.5, float("nan")):
        litter = [torch.full((size,), fill) for size in (1, 2, 4, 8, 16, 64, 256)]
        del litter
        seed(torch)
        if kind.faults(item, kind.observe(torch, item)):
            return True
    return False


def batch(author: Author, name: str, dtype: str, indices: list) -> tuple:
    """The items as bytes, which the driver hands on unread, then how many were made, valid, and asked of what."""
    try:
        made = author.batch(name, dtype, indices)
    except Impossible as error:
        return Raised(("Impossible",), str(error))
    return pickle.dumps(made.items), made.made, made.valid, sum((kind_of(item).asked(item) for item in made.items), Counter())


def explore(author: Author, *arguments) -> tuple:
    """The items as bytes, and what each showed; nothing where no case can be made."""
    try:
        items, shown = author.explore(*arguments)
    except Impossible:
        items, shown = [], []
    return pickle.dumps(items), shown


def main(descriptor: str, gigabytes: str) -> None:
    """Serves requests until the driver closes the pipe."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    connection = connect(descriptor)
    limit_memory(int(gigabytes))
    author = Author()
    requests = {"universe": author.universe, "wavers": wavers,
                "rerun": lambda item: kind_of(item).reruns(torch, item),
                "expect": expect,
                "explore": lambda *arguments: explore(author, *arguments),
                "replay": lambda *arguments: pickle.dumps(author.replay(*arguments)),
                "batch": lambda *arguments: batch(author, *arguments)}
    connection.send(("ready", str(torch.__version__)))
    in_children(connection, lambda: serve(connection, requests))


if __name__ == "__main__":
    main(*sys.argv[1:])
