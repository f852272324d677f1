"""Samples into batches."""

import collections
import copy

import numpy as np
import weir
from weir import Tensor


_slots = None  # of this process, if it is a worker that has shared memory for its batches


def set_slots(slots) -> None:
    """From now on tensors are stacked in the slots of this worker."""
    global _slots
    _slots = slots


def _mapping_like(old, new):
    """The dict `new` as a mapping of old's kind, with what else that carries; a dict where its class allows neither."""
    try:
        if not isinstance(old, collections.abc.MutableMapping):
            return type(old)(new)
        clone = copy.copy(old)
        clone.update(new)
        return clone
    except TypeError:
        return new


def _sequence_like(old, new):
    """The list `new` as a sequence of old's kind, with what else that carries; a list for tuples, and where its class allows neither."""
    if isinstance(old, tuple):
        return type(old)(*new) if hasattr(old, "_fields") else new
    try:
        if not isinstance(old, collections.abc.MutableSequence):
            return type(old)(new)
        clone = copy.copy(old)
        for i, value in enumerate(new):
            clone[i] = value
        return clone
    except TypeError:
        return new


def default_convert(data):
    """Arrays in `data` made into tensors, containers kept."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SUO":
        return weir.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _mapping_like(data, {k: default_convert(v) for k, v in data.items()})
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _sequence_like(data, [default_convert(v) for v in data])
    return data


def collate(batch, *, collate_fn_map=None):
    """One batch of a list of samples; `collate_fn_map` says by type what becomes of samples that are no containers.

    Raises TypeError for types that it does not name and RuntimeError for sequences of unequal length.
    """
    first = batch[0]
    for kind in (type(first), *(collate_fn_map or ())):  # the very class before its bases
        if kind in (collate_fn_map or ()) and isinstance(first, kind):
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)

    def together(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, collections.abc.Mapping):
        return _mapping_like(first, {key: together([b[key] for b in batch]) for key in first})
    if isinstance(first, collections.abc.Sequence):
        if not hasattr(first, "_fields") and any(len(b) != len(first) for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _sequence_like(first, [together(part) for part in zip(*batch)])
    raise TypeError(default_collate_err_msg_format.format(type(first)))


default_collate_err_msg_format = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Tensors stacked. RuntimeError for sparse ones."""
    if batch[0].layout != weir.strided:
        raise RuntimeError("Batches of sparse tensors are not currently supported by the default collate_fn; please provide a custom collate_fn "
                           "to handle them appropriately.")
    first = batch[0]
    if _slots is not None and all(type(t) is Tensor and t.dtype == first.dtype and t.shape == first.shape and not t.requires_grad for t in batch):
        out = _slots.empty((len(batch), *first.shape), first.dtype)
        if out is not None:
            return weir.stack(list(batch), 0, out=out)
    return weir.stack(list(batch), 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Arrays as tensors. TypeError for those of text and objects."""
    if batch[0].dtype.kind in "SUO":
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([weir.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """NumPy's numbers as a tensor of theirs."""
    return weir.as_tensor(np.asarray(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """Floats as float64."""
    return weir.tensor(batch, dtype=weir.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """Whole numbers as int64."""
    return weir.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Text as it is."""
    return batch


#: What default_collate does by type; programs may add to it.
default_collate_fn_map = {Tensor: collate_tensor_fn, np.ndarray: collate_numpy_array_fn,
                          (np.bool_, np.number, np.object_): collate_numpy_scalar_fn, float: collate_float_fn, int: collate_int_fn,
                          str: collate_str_fn, bytes: collate_str_fn}


def default_collate(batch):
    """One batch of a list of samples: tensors stacked, numbers made into tensors, containers element by element.

    Raises TypeError for other types and RuntimeError for sequences of unequal length.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
