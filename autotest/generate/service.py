"""The oracle worker of a campaign: writes batches of cases and reruns disputed ones in double precision.

Run as `python -m weir_autotest.generate.service FD MEMORY_GB`.
"""

import importlib
import pickle
import sys
import warnings
from collections import Counter

import torch

from ..cases.case import Case
from ..cases.protocol import Item
from ..cases.values import Raised
from ..workers.kinds import kind_of
from ..workers.subject import limit_memory, warn_each_time
from ..workers.worker import connect, in_children, serve
from . import databases, kept
from .arguments import Impossible
from .author import Author, Batch, drawn
from .doubts import again, restless, wavers
from .expectation import determined, expectation


def expect(target, case) -> Item:
    """A stored case with what the oracle observes now."""
    item = expectation(target, determined(target.paths[0], case) if target.paths else case)
    item.drawn = drawn(item) if isinstance(case, Case) else None
    return item


def batch(author: Author, name: str, dtype: str, indices: list) -> tuple:
    """The items as bytes, which the driver hands on unread, then how many were made, valid, and asked of what."""
    try:
        made = author.batch(name, dtype, indices)
    except Impossible as error:
        return Raised(("Impossible",), str(error))
    return _answer(made)


def reach(author: Author, name: str, dtype: str, missing: set) -> tuple:
    """As `batch`, of further calls for the properties `missing`."""
    try:
        return _answer(author.reach(name, dtype, missing))
    except Impossible as error:
        return Raised(("Impossible",), str(error))


def _answer(made: Batch) -> tuple:
    return pickle.dumps(made.items), len(made.items), made.valid, _asked(made.items)


def samples(*arguments) -> tuple:
    """The samples of a database's entry as bytes, how many there are, asked of what, and what is left out."""
    items, omissions = databases.samples(*arguments)
    return pickle.dumps(items), len(items), _asked(items), omissions


def _asked(items: list) -> Counter:
    return Counter(name for item in items for name in kind_of(item).asked(item))


def main(descriptor: str, gigabytes: str) -> None:
    """Serves requests until the driver closes the pipe."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    warn_each_time(torch)
    connection = connect(descriptor)
    limit_memory(int(gigabytes))
    author = Author()
    if not kept.mostly():
        importlib.import_module("torch.testing._internal.common_modules")  # here, where no deadline runs
    requests = {"universe": author.universe, "wavers": wavers, "restless": restless, "again": again,
                "rerun": lambda item, more: kind_of(item).reruns(torch, item, more),
                "expect": expect,
                "replay": lambda *arguments: pickle.dumps(author.replay(*arguments)),
                "batch": lambda *arguments: batch(author, *arguments),
                "reach": lambda *arguments: reach(author, *arguments),
                "keys": databases.keys, "samples": samples}
    connection.send(("ready", str(torch.__version__)))
    in_children(connection, lambda: serve(connection, requests), lambda: importlib.import_module("torch._dynamo"))


if __name__ == "__main__":
    main(*sys.argv[1:])
