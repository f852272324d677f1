"""The oracle worker of a campaign: writes batches of cases and reruns disputed ones in double precision.

Run as `python -m weir_autotest.generate.service FD MEMORY_GB`.
"""

import pickle
import sys
import warnings
from collections import Counter
from dataclasses import replace

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
from ..workers.worker import connect, serve
from .arguments import Impossible
from .author import Author, drawn


def expect(target, case) -> Item:
    """A stored case with what the oracle observes now."""
    seed(torch)
    before = torch.get_rng_state()
    item = Item(0, target, case, None)
    item.expected = kind_of(item).observe(torch, item)
    item.random = item.draws = not torch.equal(before, torch.get_rng_state())
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


def wavers(item: Item) -> bool:
    """Whether the oracle has more than one answer: from run to run, with the heap filled differently before each; by more
    than rounding with the number of threads, by which it chooses among algorithms; or with `out=` and without."""
    kind = kind_of(item)
    if kind.repeated(torch, item) or _differs_with_threads(kind, item) or _differs_without_out(item):
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
    serve(connection, requests)


if __name__ == "__main__":
    main(*sys.argv[1:])
