"""Running reductions, differences and integrals along one axis."""

import itertools

import weir
from weir._C import Tensor

from .._tensor import suggested_format
from ._check import check_floating
from ._register import autocast_as, composite
from .shape import wrapped_dim


@composite
@autocast_as("unchanged")
def logcumsumexp(input: Tensor, dim):
    """log of the running sum of exp along dim, scaled by the running maximum so that it does not overflow."""
    wrapped_dim(input, dim)
    if not input.is_complex():
        check_floating("logcumsumexp", input)
    if input.dim() == 0 or input.numel() == 0:
        return input.cumsum(dim)
    if input.is_complex():  # one after the other: a logarithm of the whole sum would lose the turns of its angle
        totals = itertools.accumulate(input.unbind(dim), weir.logaddexp)
        return weir.stack(list(totals), dim)
    highest = _running(input.detach(), dim, lambda new, old: new >= old)[0]
    finite = weir.isfinite(highest)
    shift = weir.where(finite, highest, weir.zeros_like(highest))
    lower = shift.select(dim, 0).unsqueeze(dim)
    if bool(finite.all()) and float((shift - lower).max()) < 40:  # one shift for the row is exact enough
        shift = shift.amax(dim, True).double()  # sums near 1 have a logarithm near 0: in float32 little would be left of it
        return ((input.double() - shift).exp().cumsum(dim).log() + shift).to(input.dtype)
    return weir.stack([weir.logsumexp(input.narrow(dim, 0, n + 1), dim) for n in range(input.shape[dim])], dim)


def _running(input, dim, better):
    """Running extreme along dim and where it stands, by doubling steps."""
    size = input.shape[dim]
    shape = [size if d == dim % input.dim() else 1 for d in range(input.dim())]
    values, where = input, weir.arange(size).reshape(shape).expand(input.shape)
    step = 1
    while step < size:
        old_values, old_where = values.narrow(dim, 0, size - step), where.narrow(dim, 0, size - step)
        new_values, new_where = values.narrow(dim, step, size - step), where.narrow(dim, step, size - step)
        keep = better(new_values, old_values) | weir.isnan(new_values)
        keep = keep & (weir.logical_not(weir.isnan(old_values)) | weir.isnan(new_values))
        merged = weir.where(keep, new_values, old_values), weir.where(keep, new_where, old_where)
        values = weir.cat([values.narrow(dim, 0, step), merged[0]], dim)
        where = weir.cat([where.narrow(dim, 0, step), merged[1]], dim)
        step *= 2
    return values, where


def _cumulative(name, better):
    def scan(input: Tensor, dim):
        if input.dim() == 0:
            return input.clone(), weir.zeros((), dtype=weir.int64)
        if input.numel() == 0:
            return input.clone(), weir.zeros(input.shape, dtype=weir.int64)
        where = _running(input.detach(), dim, better)[1].contiguous()
        return input.gather(dim, where), where

    scan.__name__ = name
    scan.__doc__ = f"(values, indices) of the running {name[3:]} along dim; the last of equal ones counts."
    return composite(scan)


cummax = _cumulative("cummax", lambda new, old: new >= old)
cummin = _cumulative("cummin", lambda new, old: new <= old)


@composite
def diff(input: Tensor, n=1, dim=-1, prepend=None, append=None):
    """n-th differences along dim."""
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0 and prepend is None and append is None:
        return input.clone()  # whatever dim is
    wrapped_dim(input, dim)
    parts = [p for p in (prepend, input, append) if p is not None]
    x = weir.cat(parts, dim) if len(parts) > 1 else input  # which raises for parts that do not fit
    if n == 0:
        return input.clone()  # without the parts
    for _ in range(min(n, x.shape[dim])):
        later, earlier = _neighbours(x, dim)
        x = weir.logical_xor(later, earlier) if x.dtype == weir.bool else later - earlier
    return x


def _neighbours(x, dim):
    """(all elements but the first, all but the last) along dim."""
    length = max(x.shape[dim] - 1, 0)
    return x.narrow(dim, x.shape[dim] - length, length), x.narrow(dim, 0, length)


def _trapezoids(y, x, dx, dim, reduce):
    """The areas between y's points along dim, summed by `reduce`, which is sum or cumsum."""
    if y.dim() == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    dim = dim % y.dim()
    step = x is None or (x.dim() == 1 and not y.shape[dim])
    dx = 1.0 if dx is None else dx
    if step and reduce is weir.sum:  # one sum less its ends, as PyTorch has it: infinities show the difference
        return (y.sum(dim) - (y.select(dim, 0) + y.select(dim, -1)) * 0.5) * dx
    later, earlier = _neighbours(y, dim)
    heights = later + earlier
    if step:
        return reduce(heights * (dx / 2.0), dim)
    if x.dim() == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        width = (x[1:] - x[:-1]).reshape([-1 if d == dim else 1 for d in range(y.dim())])
    else:
        later, earlier = _neighbours(x.reshape([1] * (y.dim() - x.dim()) + list(x.shape)), dim)
        width = later - earlier
    return reduce(heights * width, dim) / 2.0


def _check_step(name, x, dx):
    if x is not None and dx is not None:
        raise RuntimeError(f"{name}: give x or dx, not both")


@composite(method=False, aliases=("trapz",))
def trapezoid(y: Tensor, x=None, *, dx=None, dim=-1):
    """The integral along dim by the trapezoidal rule, over points x or steps dx."""
    _check_step("trapezoid", x, dx)
    if y.dim() and y.shape[dim] == 0:
        return weir.zeros([s for d, s in enumerate(y.shape) if d != dim % y.dim()], dtype=y.dtype)
    return _trapezoids(y, x, dx, dim, weir.sum)


@composite(method=False)
def cumulative_trapezoid(y: Tensor, x=None, *, dx=None, dim=-1):
    """The running integral along dim by the trapezoidal rule."""
    _check_step("cumulative_trapezoid", x, dx)
    return _trapezoids(y, x, dx, dim, weir.cumsum)


@composite(method=False)
def gradient(input: Tensor, *, spacing=None, dim=None, edge_order=1):
    """Central differences along each axis (one-sided at the ends), as a tuple."""
    axes = list(range(input.dim())) if dim in (None, ()) else [dim] if isinstance(dim, int) else list(dim)
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(spacings) != len(axes):
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(axes)}, "
                           f"but got a list of length {len(spacings)}")
    if len({wrapped_dim(input, d) for d in axes}) < len(axes):
        raise RuntimeError("torch.gradient: a dim appears multiple times in the list of dims")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.shape[d] < edge_order + 1 for d in axes):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    for points in spacing if isinstance(spacing, (tuple, list)) else ():
        if isinstance(points, Tensor) and points.dim() != 1:
            raise RuntimeError("torch.gradient expected each element of spacing to have one dimension, but got an element with "
                               f"{points.dim()} dimensions!")
    return tuple(_gradient_along(input, d, s, edge_order) for d, s in zip(axes, spacings))


def _gradient_along(x, dim, spacing, edge_order):
    """Over even steps the difference across two of them; over given points a parabola's slope, in weights of three
    values. One formula would do for finite numbers only."""
    uneven = isinstance(spacing, Tensor) and spacing.dim() > 0
    first, middle, last = (_uneven_slopes if uneven else _even_slopes)(x, dim, spacing, edge_order)
    result = weir.cat([first, middle, last], dim)
    # By a number, slices keep the order of axes of the whole also where only one element is left of an axis.
    return result if uneven or not middle.numel() else result.contiguous(memory_format=suggested_format(x))


def _even_slopes(x, dim, step, edge_order):
    part = lambda start, length=1: x.narrow(dim, start % x.shape[dim], length)  # noqa: E731
    inner = x.shape[dim] - 2
    middle = (part(2, inner) - part(0, inner)) / step / 2
    if edge_order == 1:
        return (part(1) - part(0)) / step, middle, (part(-1) - part(-2)) / step
    return ((-1.5 * part(0) + 2 * part(1) - 0.5 * part(2)) / step, middle,
            (0.5 * part(-3) - 2 * part(-2) + 1.5 * part(-1)) / step)


def _uneven_slopes(x, dim, points, edge_order):
    part = lambda start, length=1: x.narrow(dim, start % x.shape[dim], length)  # noqa: E731
    along = lambda t: t.reshape([-1 if d == dim % x.dim() else 1 for d in range(x.dim())])  # noqa: E731
    inner, h = x.shape[dim] - 2, points[1:] - points[:-1]
    left, right = h[:-1], h[1:]
    a, b, c = -right / (left * (left + right)), (right - left) / (left * right), left / (right * (left + right))
    middle = along(a) * part(0, inner) + along(b) * part(1, inner) + along(c) * part(2, inner)
    if edge_order == 1:
        return (part(1) - part(0)) / h[0], middle, (part(-1) - part(-2)) / h[-1]
    # Signs and whole numbers where PyTorch has them: unsigned points wrap around.
    near, far = h[0], h[1]
    first = (-(2.0 * near + far) / (near * (near + far)) * part(0) + (near + far) / (near * far) * part(1)
             + -near / (far * (near + far)) * part(2))
    near, far = h[-1], h[-2]
    last = (near / (far * (near + far)) * part(-3) + -(near + far) / (near * far) * part(-2)
            + (2 * near + far) / (near * (near + far)) * part(-1))
    return first, middle, last
