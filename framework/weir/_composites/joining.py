"""Second names of what joins and splits, and the functions that take tensors side by side."""

import weir
from weir._C import Tensor

from ._register import alias, composite

_hidden = weir._C.ops["hidden"]

for _name, _target in (("concat", "cat"), ("concatenate", "cat"), ("row_stack", "vstack")):
    alias(_name, _target)


def _unsafe(name):
    def unsafe(input, *args, **kwargs):
        return getattr(Tensor, name)(input.resolve_conj(), *args, **kwargs)

    unsafe.__name__ = f"unsafe_{name}"
    unsafe.__doc__ = f"{name}, of a conjugate view in memory of its own."
    return composite(unsafe, out=None)


unsafe_split, unsafe_chunk = _unsafe("split"), _unsafe("chunk")


def _tensors(args):
    return list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)


def need_tensors(tensors):
    """The tensors of a function that takes no list of them. Raises TypeError for another type."""
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return list(tensors)


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
def block_diag(*tensors):
    """Matrices along the diagonal of a larger one, zeros elsewhere; vectors and numbers count as rows."""
    return _hidden["block_diag"](need_tensors(tensors))


@composite(method=False, out=None)
def broadcast_tensors(*tensors):
    """All tensors expanded to their common shape."""
    return _hidden["broadcast_tensors"](need_tensors(tensors))


@composite(method=False, out=None)
def meshgrid(*tensors, indexing=None):
    """A grid per vector, each of the shape of all lengths; indexing 'xy' swaps the first two axes."""
    return _hidden["meshgrid"](_tensors(tensors), indexing=indexing)


@composite(method=False, out=None)
def cartesian_prod(*tensors):
    """All tuples of one element per vector, as rows."""
    return _hidden["cartesian_prod"](need_tensors(tensors))


@composite(method=False, out=None)
def broadcast_shapes(*shapes):
    """The shape that all given shapes broadcast to. Raises RuntimeError when there is none."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(reversed(shape)):
            if size < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({size}): ({size})")
            at = rank - 1 - i
            if size != 1 and result[at] not in (1, size):
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            result[at] = size if size != 1 else result[at]
    return weir.Size(result)
