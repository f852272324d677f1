"""Views under further names, and what gives tensors another geometry."""

import weir
from weir._C import Tensor

from .._arguments import checked
from .._factories import check_options
from .._tensor import suggested_format
from ._register import alias, composite


for _name, _target in (("swapdims", "transpose"), ("moveaxis", "movedim")):
    alias(_name, _target)


def _triangle_indices(name, upper):
    def indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
        check_options(layout, pin_memory)
        return weir._C.ops["hidden"]["triangle_indices"](row, col, offset, dtype or weir.int64, upper)

    indices.__name__ = name
    indices.__doc__ = "Row and column indices of a triangle, in order. Shape: (2, count)."
    return composite(indices, method=False, out=None)


tril_indices, triu_indices = _triangle_indices("tril_indices", False), _triangle_indices("triu_indices", True)


def _slice(input: Tensor, dim=0, start=None, end=None, step=1):
    """Every step-th index from start to end along dim."""
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end, step)
    return input[tuple(index)]


_slice.__name__ = "slice"
composite(_slice, method=False)


@composite(method=False, out=None)
def zero_(input: Tensor):
    """Zeros in place."""
    return input.zero_()


@composite(out=None)
def resize_as_(input: Tensor, the_template, *, memory_format=None):
    """Resized in place to the_template's shape; new elements are undefined."""
    if memory_format is weir.preserve_format:
        memory_format = suggested_format(the_template)
    return input.resize_(the_template.shape, memory_format=memory_format)


@composite(public=False, out=None)
@checked
def new_empty_strided(input: Tensor, size: "list[int]", stride: "list[int]", *, dtype=None, layout=None, device=None, requires_grad=False,
                      pin_memory=False):
    """An uninitialised tensor of these strides, in input's dtype unless told."""
    return weir.empty_strided(size, stride, dtype=dtype or input.dtype, device=device or input.device,
                              requires_grad=requires_grad, pin_memory=pin_memory)


@composite(method=False, out=None)
@checked
def empty_permuted(size: "list[int]", physical_layout: "list[int]", *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An uninitialised tensor whose axes lie in memory in the order of physical_layout, the outermost first."""
    size, order = list(size), list(physical_layout)
    if len(size) != len(order):
        raise RuntimeError(f"Number of dimensions in size does not match the length of the physical_layout; got {len(size)} "
                           f"and {len(order)}")
    if sorted(order) != list(range(len(size))):
        raise RuntimeError(f"Duplicate dim, or dim out of range, in physical_layout {order}")
    strides, step = [0] * len(size), 1
    for d in reversed(order):
        strides[d], step = step, step * max(size[d], 1)
    return weir.empty_strided(size, strides, dtype=dtype, device=device, requires_grad=requires_grad,
                              pin_memory=pin_memory)
