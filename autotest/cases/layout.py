"""The same call on row-major copies of its inputs, to tell a wrong layout from a wrong operation."""

from dataclasses import replace

import numpy as np

from . import dtypes
from .case import Case, TensorSpec, map_tree, row_major, seen, tensors_of


def is_plain(case: Case) -> bool:
    """Whether every tensor is row-major from the start of its storage, and shows it as it is."""
    return all(spec.offset == 0 and not spec.conj and spec.stride == row_major(spec.size) for spec in tensors_of(case))


def plain(case: Case) -> Case:
    """`case` with every tensor row-major in a storage of its own."""
    made: dict = {}
    storages: list = []

    def leaf(value):
        if not isinstance(value, TensorSpec):
            return value
        if value.id not in made:
            dtype, data = case.storages[value.storage]
            numbers = seen(np.frombuffer(data, dtypes.numpy_dtype(dtype)), value)
            storages.append((value.dtype, (numbers.conj() if value.conj else numbers).tobytes()))
            made[value.id] = replace(value, stride=row_major(value.size), offset=0, storage=len(storages) - 1, conj=False)
        return made[value.id]

    return replace(case, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs), storages=storages)
