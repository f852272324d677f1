"""The numbers that a random operation draws over many calls, as a table of independent rows."""

import numpy as np

from ..cases.case import Case, Decoder
from ..cases.values import flatten, to_value
from .seeding import seed

CALLS = 2000  # rows; with all columns together well over 4,000 numbers
_PLACES = 5  # elements of the result that get a column
_LARGEST = 1024  # elements of a result that is worth drawing so often
ORACLE_SEED, SUBJECT_SEED = 1, 2  # that are unlike, so that PyTorch against itself tests the test


def drawn(W, function, case: Case, number: int, calls: int = CALLS) -> np.ndarray | None:
    """A row per call: some elements of its result, and their mean, which tells numbers that hang together.

    Only rows are independent: elements of one call may share a draw, as the channels of a dropout do. None where the
    result is no real tensor of moderate size.
    """
    seed(W, number)
    decoder = Decoder(W, case.storages)
    args, kwargs = decoder.decode(case.args), decoder.decode(case.kwargs)
    rows = []
    for _ in range(calls):
        fresh = (args[0].detach().clone(), *args[1:]) if case.relation == "inplace" else args
        row = _row(W, function(*fresh, **kwargs))
        if row is None:
            return None
        rows.append(row)
    return np.stack(rows)


def _row(W, result) -> np.ndarray | None:
    value = to_value(flatten(result, W)[1][0], W)
    if value is None or value.dtype.startswith(("complex", "python")) or not 0 < np.prod(value.shape) <= _LARGEST:
        return None
    numbers = value.array().reshape(-1).astype(np.float64)
    places = np.unique(np.linspace(0, numbers.size - 1, _PLACES).astype(int))
    with np.errstate(all="ignore"):
        return np.append(numbers[places], numbers.mean())
