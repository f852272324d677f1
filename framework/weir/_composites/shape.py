"""Views under further names, triangles, diagonals, and writes into a copy."""

import functools

import weir
from weir._C import Tensor

from .._factories import check_options
from .._tensor import suggested_format
from ._register import OUT_SAME, OUT_EXACT, alias, composite, without_derivative


def wrapped_dim(input, dim):
    """dim counted from the first axis. Raises IndexError outside input's axes."""
    rank = max(input.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def _as(name):
    def view(input: Tensor, other):
        return getattr(input, name)(other.shape)

    view.__name__ = name + "_as"
    view.__doc__ = f"input.{name}(other.shape)."
    return composite(view, public=False, out=None)


view_as, reshape_as, expand_as = _as("view"), _as("reshape"), _as("expand")


@composite(out=None)
def type_as(input: Tensor, other):
    """input in other's dtype."""
    return input.to(other.dtype)


@composite(out=None)
def ravel(input: Tensor):
    """All elements as a vector."""
    return input.contiguous().view(-1)


@composite(out=None)
def positive(input: Tensor):
    """input itself. Raises RuntimeError for bool."""
    if input.dtype == weir.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


for _name, _target in (("swapaxes", "transpose"), ("swapdims", "transpose"), ("moveaxis", "movedim")):
    alias(_name, _target)


@composite(out=None)
def fliplr(input: Tensor):
    """Axis 1 reversed."""
    if input.dim() < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return input.flip(1)


@composite(out=None)
def flipud(input: Tensor):
    """Axis 0 reversed."""
    if input.dim() < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return input.flip(0)


@composite(out=None)
def rot90(input: Tensor, k=1, dims=(0, 1)):
    """Rotated k times by 90 degrees from the first of `dims` to the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.dim() < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.dim()}")
    a, b = (wrapped_dim(input, d) for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turns = k % 4
    if turns == 1:
        return input.flip(b).transpose(a, b)
    if turns == 2:
        return input.flip(a, b)
    return input.transpose(a, b).flip(b) if turns == 3 else _row_major_copy(input)


@composite(out=None)
def diag_embed(input: Tensor, offset=0, dim1=-2, dim2=-1):
    """The last axis spread over the diagonal of two new axes."""
    wide = input.unsqueeze(-1)
    first, second = wrapped_dim(wide, dim1), wrapped_dim(wide, dim2)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length, shape = input.shape[-1] + abs(offset), list(input.shape[:-1])
    for d in sorted((first, second)):
        shape.insert(d, length)
    return diagonal_scatter(input.new_zeros(shape), input, offset, first, second)


@composite(out=OUT_SAME)
def diag(input: Tensor, diagonal=0):
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.dim()}D")
    return diag_embed(input, diagonal) if input.dim() == 1 else input.diagonal(diagonal).clone()


@composite(out=None)
def diagflat(input: Tensor, offset=0):
    """A matrix with all elements of input on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


def _written(input, view_of, src, name):
    out = input.clone(memory_format=weir.contiguous_format) if input.dim() == 0 else input.clone()
    target = view_of(out)
    if target.shape != src.shape:
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, "
                           f"slice size = {list(target.shape)}")
    target.copy_(src)
    weir._C._as_new(out)
    if out.stride() == input.stride() or any(step == 0 and size > 1 for step, size in zip(input.stride(), input.shape)):
        return out
    # Holes between the elements stay too, as PyTorch has it, unless an element stands for several.
    return weir.empty_strided(input.shape, input.stride(), dtype=input.dtype).copy_(out)


@composite(out=None)
def diagonal_scatter(input: Tensor, src, offset=0, dim1=0, dim2=1):
    """A copy of input with src on its diagonal."""
    return _written(input, lambda x: x.diagonal(offset, dim1, dim2), src, "diagonal")


@composite(out=None)
def select_scatter(input: Tensor, src, dim, index):
    """A copy of input with src as its slice `index` along dim."""
    return _written(input, lambda x: x.select(dim, index), src, "select")


@composite(out_recorded=True)
def slice_scatter(input: Tensor, src, dim=0, start=None, end=None, step=1):
    """A copy of input with src at start:end:step along dim."""
    return _written(input, lambda x: _slice(x, dim, start, end, step), src, "slice")


def _slice(x, dim, start, end, step):
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    start, end, step = slice(start, end, step).indices(x.shape[dim])
    index = [slice(None)] * x.dim()
    index[dim] = slice(start, max(end, start), step)
    return x[tuple(index)]


@composite(method=False)
def slice(input: Tensor, dim=0, start=None, end=None, step=1):  # noqa: A001
    """Every step-th index from start to end along dim."""
    return _slice(input, dim, start, end, step)


slice_of = slice
from builtins import slice  # noqa: E402  (the name above is PyTorch's)


@composite(out=None)
def as_strided_scatter(input: Tensor, src, size, stride, storage_offset=None):
    """A copy of input with src written through a strided window. Source of the gradient: PyTorch, who gives input that
    of the window's elements, and zeros for all others."""
    return _as_strided_scatter().apply(input, src, size, stride, storage_offset)


@functools.cache
def _as_strided_scatter():
    from ..autograd import Function

    class AsStridedScatter(Function):
        @staticmethod
        def forward(ctx, input, src, *window):
            ctx.window = window
            return _written(input, lambda x: x.as_strided(*window), src, "as_strided")

        @staticmethod
        def backward(ctx, grad):
            seen = grad.contiguous().as_strided(*ctx.window)
            nothing = weir.zeros(grad.shape, dtype=grad.dtype)
            return as_strided_scatter(nothing, seen, *ctx.window), seen, None, None, None

    return AsStridedScatter


def _triangle_indices(name, keep):
    def indices(row, col, offset=0, *, dtype=None, device=None, layout=None, pin_memory=False):
        check_options(layout, pin_memory)
        if row < 0 or col < 0:
            raise RuntimeError("row and col must be non-negative")
        if dtype not in (None, weir.int64, weir.int32):
            raise NotImplementedError(f"{name}: not implemented for {dtype}")
        pairs = [(r, c) for r in range(row) for c in range(col) if keep(r, c, offset)]
        return weir.tensor(pairs, dtype=dtype or weir.int64).reshape(-1, 2).t().contiguous()

    indices.__name__ = name
    indices.__doc__ = "Row and column indices of a triangle, in order. Shape: (2, count)."
    return composite(indices, method=False)


tril_indices = _triangle_indices("tril_indices", lambda r, c, k: c - r <= k)
triu_indices = _triangle_indices("triu_indices", lambda r, c, k: c - r >= k)


def _row_major_copy(x):
    return x.clone(memory_format=weir.contiguous_format)


#: What these copies take that the views themselves do not.
_VIEWS = {
    "view": lambda x, *args, **kwargs: x.view(*args, **kwargs) if isinstance((*args, *kwargs.values())[0], weir.dtype) else
    x.reshape(*args, *kwargs.values()),
    "expand": lambda x, *size, implicit=False: x.expand(*size),
    "detach": lambda x: without_derivative("detach_copy", lambda x: x.clone(), x),
}


def _copying(name):
    view = getattr(Tensor, name)

    def copy(input: Tensor, *args, **kwargs):
        return _row_major_copy(_VIEWS.get(name, view)(input, *args, **kwargs))

    copy.__name__ = name + "_copy"
    copy.__doc__ = f"A copy of `{name}`."
    return composite(copy, method=False, out_recorded=True, out=OUT_SAME)


for _name in ("view", "as_strided", "diagonal", "expand", "permute", "select", "squeeze", "t", "transpose", "unsqueeze",
              "unfold", "detach", "slice"):
    if hasattr(Tensor, _name):
        _copying(_name)


@composite(method=False, out_recorded=True, out=OUT_SAME)
def alias_copy(input: Tensor):
    """A copy."""
    return _row_major_copy(input)


@composite(out=OUT_SAME)
def narrow_copy(input: Tensor, dim, start, length):
    """A copy of `narrow`. RuntimeError, as in PyTorch, for a dim that is too large."""
    if dim >= input.dim() > 0:
        raise RuntimeError(f"narrow_copy(): Dimension {dim} out of range for a {input.dim()}-D tensor")
    size = input.shape[dim] if input.dim() else 0
    if input.dim() and not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    return _row_major_copy(input.narrow(dim, start, length))


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
def split_with_sizes_copy(input: Tensor, split_sizes, dim=0):
    """Copies of `split_with_sizes`."""
    return input.split(list(split_sizes), dim)


@_copying_parts(_written_into)
def unbind_copy(input: Tensor, dim=0):
    """Copies of `unbind`."""
    return input.unbind(dim)


@composite(out=None)
def sum_to_size(input: Tensor, *size):
    """Summed over axes until it has the given broadcastable size."""
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = input.dim() - len(size)
    if lead < 0 or any(s not in (1, n) for s, n in zip(size, input.shape[lead:])):
        raise RuntimeError(f"size {list(size)} is not expandable to size {list(input.shape)}.")
    if tuple(size) == tuple(input.shape):
        return input if size else input.clone()  # PyTorch sums a 0-d tensor over nothing
    axes = [d for d in range(input.dim()) if d < lead or (size[d - lead] == 1 and input.shape[d] != 1)]
    return (input.sum(axes, True) if axes else input).reshape(size)


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
def new_empty_strided(input: Tensor, size, stride, *, dtype=None, layout=None, device=None, requires_grad=False,
                      pin_memory=False):
    """An uninitialised tensor of these strides, in input's dtype unless told."""
    return weir.empty_strided(size, stride, dtype=dtype or input.dtype, device=device or input.device,
                              requires_grad=requires_grad, pin_memory=pin_memory)


@composite(method=False)
def empty_permuted(size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
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
