"""Functions that make tensors from numbers, sequences and NumPy arrays."""
import builtins
import math

from _weir import (Tensor, _as_new, _empty, _empty_strided, _full, _write_out, _zeros, from_numpy, get_default_dtype,
                   ops, preserve_format, promote_types)

from . import _types as T
from ._lazy import np

_hidden = ops["hidden"]


def _size(size):
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _into(out, r):
    """`out` with the size and numbers of r, in its own dtype, as one write."""
    return _write_out("out", out, r.to(out.dtype), [], 0, False)


def _like(t, dtype, device, requires_grad, memory_format, layout, pin_memory):
    check_options(layout, pin_memory)
    dtype, device = dtype or t.dtype, device or t.device
    if memory_format in (None, preserve_format) and not t.is_contiguous():
        meta = ops["torch"]["clone"](_empty_strided(t.shape, t.stride(), t.dtype, "meta"))
        return _empty_strided(t.shape, meta.stride(), dtype, device, requires_grad)
    r = _empty(t.shape, dtype, device, requires_grad)
    return r if memory_format in (None, preserve_format) else r.contiguous(memory_format=memory_format)


def check_options(layout, pin_memory):
    """Raises for what a new tensor cannot have here: another layout, and pinned memory, which needs an accelerator."""
    if layout not in (None, "strided") and str(layout) != "torch.strided":
        raise NotImplementedError(f"layout {layout} is not supported: weir tensors are strided")
    if pin_memory:
        raise RuntimeError("pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator "
                           "is available on this system.")


def empty(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
          memory_format=None):
    """An uninitialised tensor. Shape: `size`."""
    if layout is not None or pin_memory:  # calls of Python are most of what an empty tensor costs
        check_options(layout, pin_memory)
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    r = _empty(size, dtype, device, requires_grad)
    if memory_format is not None and memory_format is not T.contiguous_format:
        r = ops["torch"]["clone"](r, memory_format=memory_format)
    return r


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """An uninitialised tensor of the given strides."""
    check_options(layout, pin_memory)
    return _empty_strided(size, stride, dtype, device, requires_grad)


def zeros(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of zeros. Shape: `size`."""
    check_options(layout, pin_memory)
    r = _zeros(_size(size), dtype, device, requires_grad)
    return r if out is None else _into(out, r)


def ones(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of ones. Shape: `size`."""
    check_options(layout, pin_memory)
    r = _full(_size(size), 1, dtype or get_default_dtype(), device, requires_grad)
    return r if out is None else _into(out, r)


def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of one number; its dtype follows the number unless given."""
    check_options(layout, pin_memory)
    r = _full(size, fill_value, dtype, device, requires_grad)
    return r if out is None else _into(out, r)


def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """An uninitialised tensor of input's shape, dtype and (when dense) strides."""
    return _like(input, dtype, device, requires_grad, memory_format, layout, pin_memory)


def zeros_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Zeros of input's shape and dtype."""
    r = _like(input, dtype, device, False, memory_format, layout, pin_memory)
    return _as_new(r.zero_()).requires_grad_(requires_grad)


def ones_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None, pin_memory=False):
    """Ones of input's shape and dtype."""
    r = _like(input, dtype, device, False, memory_format, layout, pin_memory)
    return _as_new(r.fill_(1)).requires_grad_(requires_grad)


def full_like(input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=None,
              pin_memory=False):
    """fill_value in input's shape and dtype."""
    r = _like(input, dtype, device, False, memory_format, layout, pin_memory)
    return _as_new(r.fill_(fill_value)).requires_grad_(requires_grad)


def arange(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False,
           pin_memory=False):
    """start, start + step, ... below end. int64 unless a bound is a float. ValueError-free; RuntimeError for a bad step."""
    check_options(layout, pin_memory)
    if end is None:
        start, end = 0, start
    if out is not None and not out.is_floating_point() and builtins.int(step) == 0:
        raise ValueError("arange: step must be nonzero")  # out's dtype rounds it
    if dtype is None:
        whole = all(isinstance(x, builtins.int) or (isinstance(x, Tensor) and not x.is_floating_point())
                    for x in (start, end, step))
        dtype = T.int64 if whole else get_default_dtype()
    r = _hidden["arange"](start, end, step, dtype)
    if device is not None:
        r = r.to(device)
    if out is not None:
        return _into(out, r)
    return r.requires_grad_() if requires_grad else r


def _ends(name, start, end):
    """The two numbers of a range, of which tensors may hold one each."""
    for label, x in (("start", start), ("end", end)):
        if isinstance(x, Tensor) and x.dim():
            raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {label} with {x.dim()} "
                               "dimension(s).")
    return (x.item() if isinstance(x, Tensor) else x for x in (start, end))


def _whole_ends(dtype, start, end):
    """Both ends as numbers of `dtype`: PyTorch cuts off their fractions before it divides the distance."""
    whole = (dtype is not None and not (dtype.is_floating_point or dtype.is_complex) and math.isfinite(start)
             and math.isfinite(end))
    return (int(start), int(end)) if whole else (start, end)


def _range_dtype(*numbers):
    """The default dtype, or the complex one made of it where a number is complex."""
    dtype = get_default_dtype()
    return promote_types(dtype, T.complex64) if any(isinstance(x, builtins.complex) for x in numbers) else dtype


def linspace(start, end, steps, *, out=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False):
    """`steps` equally spaced numbers from start to end, both included."""
    if out is None:  # which brings memory of its own
        check_options(layout, pin_memory)
    start, end = _whole_ends(dtype, *_ends("linspace", start, end))
    r = _hidden["linspace"](start, end, steps, dtype or _range_dtype(start, end))
    if device is not None:
        r = r.to(device)
    if out is not None:
        return _into(out, r)
    return r.requires_grad_() if requires_grad else r


def logspace(start, end, steps, base=10.0, *, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False):
    """base ** linspace(start, end, steps)."""
    check_options(layout, pin_memory)
    start, end = _whole_ends(dtype, *_ends("logspace", start, end))
    wide = _range_dtype(start, end, base)
    exponents = linspace(start, end, steps, dtype=T.complex128 if wide.is_complex else T.float64, device=device)
    r = ops["torch"]["pow"](base, exponents).to(dtype or wide)
    return r.requires_grad_() if requires_grad else r


def eye(n, m=None, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Ones on the diagonal, zeros elsewhere. Shape: (n, m)."""
    check_options(layout, pin_memory)
    m = n if m is None else m
    if n < 0 or m < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}, {m}")
    r = zeros(n, m, dtype=dtype, device=device)
    r.diagonal().fill_(1)
    return _as_new(r).requires_grad_() if requires_grad else _as_new(r)


def _nested(data):
    """Shape of nested sequences whose leaves may be tensors; None for what NumPy reads itself."""
    return isinstance(data, (list, tuple)) and _has_tensor(data)


def _has_tensor(data):
    return any(isinstance(x, Tensor) or (isinstance(x, (list, tuple)) and _has_tensor(x)) for x in data)


def _plain(data):
    return [_plain(x) for x in data] if isinstance(data, (list, tuple)) else data.tolist() if isinstance(data, Tensor) else data


def _array(data):
    if _nested(data):
        data = _plain(data)
    if isinstance(data, (list, tuple)):
        _check_regular(data, _shape(data), 0)
    a = np.array(data)
    if a.dtype == object or a.dtype.kind in "USV":
        raise TypeError(f"new(): invalid data type '{type(_leaf(data)).__name__}'" if a.dtype.kind in "US" else
                        f"Could not infer dtype of {type(_leaf(data)).__name__}")
    return a


def _leaf(data):
    while isinstance(data, (list, tuple)) and len(data):
        data = data[0]
    return data


def _shape(data):
    shape = []
    while isinstance(data, (list, tuple)):
        shape.append(len(data))
        if not data:
            break
        data = data[0]
    return shape


def _check_regular(data, shape, dim):
    if dim == len(shape) or not isinstance(data, (list, tuple)):
        if isinstance(data, (list, tuple)) or dim != len(shape):
            raise TypeError(f"not a sequence, or nested too deep, at dim {dim}")
        return
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    if dim + 1 < len(shape):
        for x in data:
            _check_regular(x, shape, dim + 1)


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with a copy of data: a number, nested sequences, an array or a tensor. Floats get the default dtype."""
    check_options(None, pin_memory)
    if isinstance(data, Tensor):
        r = data.detach().clone()
        r = r.to(dtype) if dtype else r
    else:
        given = isinstance(data, (np.ndarray, np.generic))
        a = _array(data)
        if dtype is None and a.dtype == np.float64 and not given:
            dtype = get_default_dtype()
        if a.dtype not in T.of_numpy:
            a = a.astype(np.int64 if a.dtype.kind in "iu" else np.float64)
        r = from_numpy(np.array(a, order="C"))
        r = r.to(dtype) if dtype and dtype is not r.dtype else r
        if a.size == 0 and dtype is None and not given:
            r = r.to(get_default_dtype())
    if device is not None:
        r = r.to(device)
    return r.requires_grad_() if requires_grad else r


def as_tensor(data, dtype=None, device=None):
    """`data` as a tensor, sharing memory where it can."""
    t = data if isinstance(data, Tensor) else from_numpy(data) if isinstance(data, np.ndarray) else tensor(data)
    return t.to(device=device, dtype=dtype) if dtype or device else t


asarray = as_tensor


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-d tensor of a number, in the default dtype."""
    check_options(layout, pin_memory)
    return _full((), s, dtype or get_default_dtype(), device, requires_grad)
