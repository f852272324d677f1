"""Samples into batches, and what a worker knows of itself."""

import collections
import dataclasses

import numpy as np
import weir
from weir import Tensor


@dataclasses.dataclass
class WorkerInfo:
    """The worker's number, how many there are, its seed and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: object


_worker_info = None


def get_worker_info():
    """The WorkerInfo of this process, None in the main process."""
    return _worker_info


def set_worker_info(info) -> None:
    """Tells this process that it is a worker."""
    global _worker_info
    _worker_info = info


def default_convert(data):
    """Arrays in `data` made into tensors, containers kept."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray) and data.dtype.kind not in "SUO":
        return weir.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return type(data)({k: default_convert(v) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(v) for v in data))
    if isinstance(data, (tuple, list)):
        return [default_convert(v) for v in data]
    return data


def default_collate(batch):
    """One batch of a list of samples: tensors stacked, numbers made into tensors, containers element by element.

    Raises TypeError for other types and RuntimeError for sequences of unequal length.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return weir.stack(list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)):
        if np.asarray(first).dtype.kind in "SUO":
            raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                            f"{np.asarray(first).dtype}")
        if isinstance(first, np.ndarray) and first.shape:
            return weir.stack([weir.as_tensor(b) for b in batch], 0)
        return weir.as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return weir.tensor(batch, dtype=weir.float64)
    if isinstance(first, int):
        return weir.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    return _collate_containers(first, batch)


def _collate_containers(first, batch):
    if isinstance(first, collections.abc.Mapping):
        merged = {key: default_collate([b[key] for b in batch]) for key in first}
        try:
            return type(first)(merged)
        except TypeError:
            return merged
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(b) != len(first) for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(part) for part in zip(*batch)]
    raise TypeError("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
                    f"{type(first)}")
