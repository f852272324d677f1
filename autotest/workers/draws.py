"""The numbers that a random operation draws over many calls, as a table of independent rows."""

from math import prod

import numpy as np

from ..cases import dtypes
from ..cases.case import Case, Decoder
from ..cases.values import raw, to_value
from .seeding import seed

CALLS = 2000  # rows; with all columns together well over 4,000 numbers
_PLACES = 5  # elements of the result that get a column
_LARGEST = 1024  # elements of a result that is worth drawing so often
ORACLE_SEED, SUBJECT_SEED = 1, 2  # that are unlike, so that PyTorch against itself tests the test


def drawn(W, function, case: Case, number: int, calls: int = CALLS) -> np.ndarray | None:
    """A row per call: some elements of its result, and their mean, which tells numbers that hang together.

    Only rows are independent: elements of one call may share a draw, as the channels of a dropout do. None where the
    result is no real tensor of moderate size, or not always of one size.
    """
    seed(W, number)
    decoder = Decoder(W, case.storages)
    args, kwargs = decoder.decode(case.args), decoder.decode(case.kwargs)

    def call():
        fresh = (args[0].detach().clone(), *args[1:]) if case.relation == "inplace" else args
        return _first(function(*fresh, **kwargs))

    value = to_value(call(), W)
    if not _countable(value):
        return None
    rows = [value.data]
    for _ in range(calls - 1):
        tensor = call().detach()
        rows.append(raw(tensor, value.dtype, W))
        if tensor.dim() != len(value.shape) or len(rows[-1]) != len(value.data):
            return None
    return _table(b"".join(rows), value.dtype, calls)


def _first(result):
    """The first leaf of a result."""
    while isinstance(result, (tuple, list)):
        result = result[0]
    return result


def _countable(value) -> bool:
    """Whether it is a real tensor of moderate size."""
    return (value is not None and not value.dtype.startswith(("complex", "python"))
            and 0 < prod(value.shape) <= _LARGEST)


def _table(data: bytes, dtype: str, calls: int) -> np.ndarray:
    """Rows from the bytes of results of one size and dtype."""
    numbers = dtypes.to_array(data, dtype).reshape(calls, -1)
    places = np.unique(np.linspace(0, numbers.shape[1] - 1, _PLACES).astype(int))
    with np.errstate(all="ignore"):
        return np.column_stack([numbers[:, places].astype(np.float64), numbers.mean(axis=1, dtype=np.float64)])
