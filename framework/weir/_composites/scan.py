"""Running reductions, differences and integrals along one axis."""

import weir
from weir._C import Tensor

from ._register import composite
from .shape import wrapped_dim


@composite
def logcumsumexp(input: Tensor, dim):
    """log of the running sum of exp along dim, scaled by the running maximum so that it does not overflow."""
    if input.dim() == 0 or input.numel() == 0:
        return input.cumsum(dim)  # checks dim
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
    wrapped_dim(input, dim)
    if n == 0:
        return input.clone()
    parts = [p for p in (prepend, input, append) if p is not None]
    x = weir.cat(parts, dim) if len(parts) > 1 else input
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
    for d in axes:
        wrapped_dim(input, d)
    for d in axes:
        if axes.count(d) > 1:
            raise RuntimeError(f"torch.gradient: dim {d} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    spacings = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(spacings) != len(axes):
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(axes)}, "
                           f"but got a list of length {len(spacings)}")
    if any(input.shape[d] < edge_order + 1 for d in axes):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(_gradient_along(input, d, s, edge_order) for d, s in zip(axes, spacings))


def _gradient_along(x, dim, spacing, edge_order):
    """Over even steps the difference across two of them; over given points the two slopes, weighed. One formula would do
    for finite numbers only."""
    along = [-1 if d == dim % x.dim() else 1 for d in range(x.dim())]
    size = x.shape[dim]
    part = lambda start, length=1: x.narrow(dim, start, length)  # noqa: E731
    slope = lambda at, h: (part(at + 1) - part(at)) / h  # noqa: E731
    if isinstance(spacing, Tensor) and spacing.dim():
        h = (spacing[1:] - spacing[:-1]).to(x.dtype if x.is_floating_point() else weir.get_default_dtype())
        later, earlier = _neighbours(x, dim)
        slopes = (later - earlier) / h.reshape(along)
        left, right = h[:-1].reshape(along), h[1:].reshape(along)
        middle = slopes.narrow(dim, 0, size - 2) * right + slopes.narrow(dim, 1, size - 2) * left
        middle = middle / (left + right)
        h_first, h_last = h[:2], h.flip(0)[:2]
    else:
        h = float(spacing)
        middle = (part(2, size - 2) - part(0, size - 2)) / (2 * h)
        h_first = h_last = (h, h or 1.0)  # by a spacing of zero all is infinite already
    first, last = slope(0, h_first[0]), slope(size - 2, h_last[0])
    if edge_order == 2:
        first = first - (slope(1, h_first[1]) - first) * h_first[0] / (h_first[0] + h_first[1])
        last = last + (last - slope(size - 3, h_last[1])) * h_last[0] / (h_last[0] + h_last[1])
    return weir.cat([first, middle, last], dim)
