"""The oracle worker of a campaign: writes batches of cases and reruns disputed ones in double precision.

Run as `python -m weir_autotest.generate.service FD MEMORY_GB`.
"""

import pickle
import sys
import warnings
from collections import Counter

import numpy as np
import torch

from ..cases.layout import is_plain
from ..cases.protocol import Item
from ..cases.values import Raised
from ..check.properties import faults
from ..check.reference import promoted
from ..workers import repeat
from ..workers.subject import limit_memory
from ..workers.trial import Trial
from ..workers.worker import connect
from .arguments import Impossible
from .author import Author

_PERTURBATIONS = 4


def rerun(target, case, seed: int) -> list:
    """Observations of the case in double precision: exact inputs first, then perturbed ones."""
    function = target.resolve(torch)
    rng = np.random.default_rng(seed)
    return [Trial(torch, function, promoted(case, noise)).run() for noise in [None] + [rng] * _PERTURBATIONS]


def expect(target, case) -> Item:
    """A stored case with what the oracle observes now."""
    torch.manual_seed(0)
    before = torch.get_rng_state()
    expected = Trial(torch, target.resolve(torch), case).run()
    return Item(0, target, case, expected, not torch.equal(before, torch.get_rng_state()))


def wavers(item: Item) -> bool:
    """Whether the oracle's own answer changes from run to run, with the heap filled differently before each."""
    function = item.target.resolve(torch)
    if repeat.faults(item, function, torch):
        return True
    for fill in (0.0, 7.5, float("nan")):
        litter = [torch.full((size,), fill) for size in (1, 2, 4, 8, 16, 64, 256)]
        del litter
        torch.manual_seed(0)
        if faults(item.case, item.expected, Trial(torch, function, item.case).run(), item.random):
            return True
    return False


def batch(author: Author, name: str, dtype: str, indices: list) -> tuple:
    """The items as bytes, which the driver hands on unread, then how many were made, valid, and asked of what."""
    try:
        made = author.batch(name, dtype, indices)
    except Impossible as error:
        return Raised(("Impossible",), str(error))
    return pickle.dumps(made.items), made.made, made.valid, sum(map(_asked, made.items), Counter())


def _asked(item: Item) -> Counter:
    """Which properties an item puts to the subject."""
    expected = item.expected
    if expected.raised:
        return Counter(["error"])
    if item.case.relation != "call":
        return Counter([item.case.relation])
    names = ["value", "dtype", "shape", "stride", "alias", "version", "requires_grad"]
    names += ["random"] if item.draws else []
    names += ["determinism"] if repeat.repeats(item) else []
    names += ["layout"] if not is_plain(item.case) else []
    names += ["gradient"] if isinstance(expected.gradients, list) else []
    names += ["gradgrad"] if isinstance(expected.second, list) else []
    return Counter(names)


def main(descriptor: str, gigabytes: str) -> None:
    """Serves requests until the driver closes the pipe."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    connection = connect(descriptor)
    limit_memory(int(gigabytes))
    author = Author()
    requests = {"universe": author.universe, "rerun": rerun, "wavers": wavers,
                "expect": expect,
                "replay": lambda *arguments: pickle.dumps([author.replay(*arguments)]),
                "batch": lambda *arguments: batch(author, *arguments)}
    connection.send(("ready", str(torch.__version__)))
    while True:
        try:
            name, *arguments = connection.recv()
        except EOFError:
            return
        try:
            answer = requests[name](*arguments)
        except Exception as error:
            answer = Raised.of(error)
        connection.send(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
