"""Padding by a constant, reflection, replication or wrapping round."""

import weir
from weir._composites._register import autocast_as
from weir._ops import has_op, op

from ._check import check_tensor

__all__ = ["pad"]

_constant = op("torch" if has_op("torch", "constant_pad_nd") else "nn.functional", "constant_pad_nd")


def pad(input, pad, mode="constant", value=None):
    """`pad` holds (before, after) pairs from the last axis on; negative constant pads crop.

    mode: constant, reflect, replicate or circular; the last three pad at most the last three axes.
    """
    check_tensor("pad", input)
    pad = [int(p) for p in pad]
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > input.dim():
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got padding "
                           f"length {len(pad)} and input of dimension {input.dim()}")
    if mode == "constant":
        return _constant(input, pad, 0.0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _SOURCES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    rank = len(pad) // 2
    if input.dim() not in (rank + 1, rank + 2) or rank > 3:
        raise NotImplementedError(f"Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now, got "
                                  f"{input.dim()}D input and {len(pad)} pads")
    for i in range(rank):
        _check(mode, input, -1 - i, pad[2 * i], pad[2 * i + 1])
    if mode == "replicate" or (mode == "reflect" and rank < 3):  # ops that autocast runs in float32; the others are none
        return autocast_as("float32")(_pad_axes)(input, pad, mode)
    return _pad_axes(input, pad, mode)


def _pad_axes(input, pad, mode):
    for i in range(len(pad) // 2):
        input = _pad_axis(input, -1 - i, pad[2 * i], pad[2 * i + 1], _SOURCES[mode])
    return input


def _check(mode, input, dim, before, after):
    size = input.shape[dim]
    if mode == "reflect" and (before >= size or after >= size):
        raise RuntimeError("Argument #4: Padding size should be less than the corresponding input dimension, but got: "
                           f"padding ({before}, {after}) at dimension {dim} of input {list(input.shape)}")
    if mode == "circular" and (before > size or after > size):
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if size == 0 or size + before + after < 1:
        raise RuntimeError(f"input (size: {size}) at dimension {dim} is too small for padding ({before}, {after})")


def _reflect(i, size):
    return -i if i < 0 else 2 * (size - 1) - i if i >= size else i


def _wrap(i, size):
    return i % size


_SOURCES = {
    "reflect": _reflect,
    "replicate": lambda i, size: min(max(i, 0), size - 1),
    "circular": _wrap,
}


def _pad_axis(input, dim, before, after, source):
    if before == after == 0:
        return input
    if source is _wrap and min(before, after) < 0:  # what is cropped does not come back from the other side
        input = input.narrow(dim, max(-before, 0), input.shape[dim] - max(-before, 0) - max(-after, 0))
        before, after = max(before, 0), max(after, 0)
    size = input.shape[dim]
    index = [source(i, size) for i in range(-before, size + after)]
    return input.index_select(dim, weir.tensor(index, dtype=weir.int64))
