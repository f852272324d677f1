"""The same call on row-major copies of its inputs, to tell a wrong layout from a wrong operation."""

from dataclasses import replace

import numpy as np

from ..workers.trial import tensors_of
from . import dtypes
from .case import Case, TensorSpec, map_tree


def is_plain(case: Case) -> bool:
    """Whether every tensor is row-major from the start of its storage."""
    return all(spec.offset == 0 and spec.stride == row_major(spec.size) for spec in tensors_of(case))


def plain(case: Case) -> Case:
    """`case` with every tensor row-major in a storage of its own."""
    made: dict = {}
    storages: list = []

    def leaf(value):
        if not isinstance(value, TensorSpec):
            return value
        if value.id not in made:
            storages.append((value.dtype, _values(value, case)))
            made[value.id] = replace(value, stride=row_major(value.size), offset=0, storage=len(storages) - 1)
        return made[value.id]

    return replace(case, args=map_tree(leaf, case.args), kwargs=map_tree(leaf, case.kwargs), storages=storages)


def row_major(size: tuple) -> tuple:
    """The strides of a row-major tensor."""
    stride, step = [], 1
    for extent in reversed(size):
        stride.append(step)
        step *= max(extent, 1)
    return tuple(reversed(stride))


def _values(spec: TensorSpec, case: Case) -> bytes:
    """The bytes that `spec` sees, in row-major order."""
    dtype, data = case.storages[spec.storage]
    flat = np.frombuffer(data, dtypes.numpy_name(dtype))
    if 0 in spec.size:
        return b""
    strides = [stride * flat.itemsize for stride in spec.stride]
    return np.lib.stride_tricks.as_strided(flat[spec.offset:], spec.size, strides).tobytes()
