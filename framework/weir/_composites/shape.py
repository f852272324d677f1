"""Views under further names, and what gives tensors another geometry."""

import weir
from _weir import _suggested_format
from weir._C import Tensor

from ._register import alias, composite


for _name, _target in (("swapdims", "transpose"), ("moveaxis", "movedim")):
    alias(_name, _target)


def _slice(input: Tensor, dim=0, start=None, end=None, step=1):
    """Every step-th index from start to end along dim."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end, step)
    return input[tuple(index)]


_slice.__name__ = "slice"
composite(_slice, method=False)


@composite(out=None)
def resize_as_(input: Tensor, the_template, *, memory_format=None):
    """Resized in place to the_template's shape; new elements are undefined."""
    if memory_format is weir.preserve_format:
        memory_format = _suggested_format(the_template)
    return input.resize_(the_template.shape, memory_format=memory_format)
