"""Second names of what joins and splits, and the functions that take tensors side by side."""

from collections.abc import Sequence

import weir
from weir._C import Tensor

from ._register import alias, composite

_hidden = weir._C.ops["hidden"]

for _name, _target in (("concat", "cat"), ("concatenate", "cat"), ("row_stack", "vstack")):
    alias(_name, _target, method=False)


def _tensors(args):
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)


def _atleast(rank):
    def atleast(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return _hidden["atleast"](tensors[0], rank)
        return tuple(_hidden["atleast"](t, rank) for t in _tensors(tensors))

    atleast.__name__ = f"atleast_{rank}d"
    atleast.__doc__ = f"Each tensor with axes of size 1 added until it has {rank}."
    return composite(atleast, method=False, out=None)


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


@composite(method=False, out=None)
def broadcast_shapes(*shapes):
    """The shape that all given shapes broadcast to. RuntimeError when there is none, ValueError for negative sizes."""
    shapes = [(s,) if isinstance(s, int) else s for s in shapes if s is not None]
    for shape in shapes:
        if not isinstance(shape, Sequence):
            raise RuntimeError(f"Input shapes should be of type ints, a tuple of ints, or a list of ints, got {shape}")
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(reversed(shape)):
            if size < 0:
                raise ValueError(f"broadcast_shapes: a size cannot be negative, but got {size} in {shape}")
            at = rank - 1 - i
            if size != 1 and result[at] not in (1, size):
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            result[at] = size if size != 1 else result[at]
    return weir.Size(result)
