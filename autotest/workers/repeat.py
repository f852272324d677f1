"""The same call again: bit for bit the same, whatever the number of threads; drawn numbers after the same seed.

Numbers that are drawn differ between frameworks, but not in how they are distributed.
"""

from ..cases import dtypes
from ..cases.observed import Observation
from ..cases.protocol import Item
from ..check import distribution
from ..check.properties import Fault
from ..check.reference import floating_inputs
from . import draws
from .seeding import seed
from .trial import Trial

EVERY = 4  # of the calls that could be repeated, how many are
_THREADS = (4, 1)  # of the runs, which must equal what one thread gave before


def repeats(item: Item) -> bool:
    """Whether the call is one that gets repeated."""
    return item.case.relation == "call" and item.index % EVERY == 0 and not item.random and not item.expected.raised


def faults(item: Item, function, W, got: Observation) -> list[Fault]:
    """What differs between runs of one call in the framework `W`, of which `got` was the first."""
    if item.draws and not item.expected.raised:
        runs = [_run(item, function, W) for _ in range(2)]
        if bits(runs[0]) != bits(runs[1]):
            return [Fault("random", "the same seed draws other numbers")]
        return _distribution(item, function, W) if item.drawn is not None else []
    if not repeats(item):
        return []
    for threads in _THREADS:
        if bits(_run(item, function, W, threads)) != bits(got):
            return [Fault("determinism", f"with {threads} threads other bits than before with one")]
    return []


def _distribution(item: Item, function, W) -> list[Fault]:
    table = draws.drawn(W, function, item.case, draws.SUBJECT_SEED)
    epsilon = max((dtypes.EPSILON[spec.dtype] for spec in floating_inputs(item.case)), default=0.0)
    found = distribution.difference(item.drawn, table, epsilon) if table is not None else "no numbers were drawn"
    return [Fault("random", found)] if found else []


def _run(item: Item, function, W, threads: int = 1) -> Observation:
    seed(W)
    if hasattr(W, "set_num_threads"):
        W.set_num_threads(threads)
    try:
        return Trial(W, function, item.case).run()
    finally:
        if hasattr(W, "set_num_threads"):
            W.set_num_threads(1)


def bits(observation: Observation) -> list:
    """The bytes of all values and gradients."""
    gradients = observation.gradients if isinstance(observation.gradients, list) else []
    return [value and value.data for value in (*observation.values, *gradients)]
