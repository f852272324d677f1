"""Views under further names, and copies of views."""

import functools

import weir
from weir._C import Tensor

from .._arguments import checked
from .._factories import check_options
from .._tensor import suggested_format
from ._register import OUT_SAME, OUT_EXACT, alias, composite, without_derivative


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


def _row_major_copy(x):
    return x.clone(memory_format=weir.contiguous_format)


@composite(method=False, out_recorded=True, out=OUT_SAME)
def detach_copy(input: Tensor):
    """A copy without a derivative."""
    return without_derivative("detach_copy", _row_major_copy, input)


def _copied_into(name, out, part):
    out.copy_(part)


def _written_into(name, out, part):
    """As any `out=` is written, but a resize counts as a write of its own."""
    if out.dtype == part.dtype and out.shape != part.shape:
        out.resize_(part.shape)
    weir._C._write_out(name, out, part, [], OUT_EXACT, False)


def _copying_parts(write):
    """Decorates a function whose parts become copies. Given `out=` they go there by `write`, without a history, and it
    returns nothing, as in PyTorch."""
    def enter(function):
        @functools.wraps(function)
        def copy(*args, out=None, **kwargs):
            if out is None:
                return tuple(_row_major_copy(part) for part in function(*args, **kwargs))
            if not isinstance(out, (tuple, list)):
                raise TypeError(f"{function.__name__}(): argument 'out' must be tuple of Tensors, not "
                                f"{type(out).__name__}")
            with weir.no_grad():
                parts = function(*args, **kwargs)
                if len(parts) != len(out):
                    raise RuntimeError(f"{function.__name__}() expected an out= argument of size {len(parts)}, got "
                                       f"size {len(out)}")
                for target, part in zip(out, parts):
                    write(function.__name__, target, part)

        return composite(copy, method=False, out=None)
    return enter


@_copying_parts(_copied_into)
def split_copy(input: Tensor, split_size, dim=0):
    """Copies of `split`."""
    return input.split(split_size, dim)


@_copying_parts(_written_into)
@checked
def split_with_sizes_copy(input: Tensor, split_sizes: "list[int]", dim: int = 0):
    """Copies of `split_with_sizes`."""
    return input.split(list(split_sizes), dim)


@_copying_parts(_written_into)
def unbind_copy(input: Tensor, dim=0):
    """Copies of `unbind`."""
    return input.unbind(dim)


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
