"""Element by element: aliases and formulas."""

import math

import weir
from weir import _C
from weir._C import Tensor

from ._check import inexact
from ._register import OUT_SAME, alias, composite, with_out
from .reduction import without_gradient

for _name, _target in (
        ("absolute", "abs"), ("arccos", "acos"), ("arcsin", "asin"), ("arctan", "atan"), ("arccosh", "acosh"),
        ("arcsinh", "asinh"), ("arctanh", "atanh"), ("arctan2", "atan2"), ("negative", "neg"), ("fix", "trunc"),
        ("clip", "clamp"), ("multiply", "mul"), ("divide", "div"), ("subtract", "sub"), ("true_divide", "div"),
        ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"), ("less_equal", "le"), ("not_equal", "ne"),
        ("sgn", "sign")):
    alias(_name, _target)


def _need_tensor(name, other):
    if not isinstance(other, Tensor):
        raise TypeError(f"{name}(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")


@composite(inplace=True)
def clamp_min(input: Tensor, min):
    """max(input, min)."""
    return input.clamp(min=min)


@composite(inplace=True)
def clamp_max(input: Tensor, max):
    """min(input, max)."""
    return input.clamp(max=max)


@composite(out=None)
def rsub(input: Tensor, other, alpha=1):
    """other - alpha * input."""
    if not isinstance(input, Tensor):
        raise TypeError(f"rsub(): argument 'input' must be Tensor, not {type(input).__name__}")
    if not isinstance(other, Tensor):
        return weir.sub(weir.tensor(other, dtype=weir.result_type(input, other)), input, alpha=alpha)
    return weir.sub(other, input, alpha=alpha)


@composite(inplace=True, out=OUT_SAME)
def float_power(input, exponent):
    """input ** exponent in float64, or complex128 where one is complex."""
    if any(x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex) for x in (input, exponent)):
        wide = [x.cdouble() if isinstance(x, Tensor) else x for x in (input, exponent)]
        return weir.pow(*wide)
    if not isinstance(input, Tensor):
        if not isinstance(exponent, Tensor):
            raise TypeError("float_power(): expected a Tensor as input or exponent")
        return weir.pow(input, exponent.double())
    return input.double().pow(exponent.double() if isinstance(exponent, Tensor) else exponent)


@composite(inplace=True)
def ldexp(input: Tensor, other):
    """input * 2 ** other."""
    _need_tensor("ldexp", other)
    return input * weir.pow(2.0, other)


@composite(out=None)
def frexp(input: Tensor, *, out=None):
    """(mantissa, exponent), |mantissa| in [0.5, 1) and exponent int32. Raises RuntimeError for integers.

    Of two `out` an empty one takes the layout of the one that fits.
    """
    if out is None:
        return _frexp(input)
    fits = [tuple(x.shape) == tuple(input.shape) for x in out]
    written = with_out(_frexp)(input, out=out)
    for target, other, other_fitted in ((out[0], out[1], fits[1] and not fits[0]), (out[1], out[0], fits[0] and not fits[1])):
        if other_fitted:
            numbers = target.clone()
            _C._resize(target, target.shape, weir.empty_like(other).stride()).copy_(numbers)
    return written


def _frexp(input):
    if not input.is_floating_point():
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    wide = input.detach().double()
    safe = weir.where(weir.isfinite(wide) & (wide != 0), wide.abs(), weir.ones_like(wide))
    exponent = safe.log2().floor() + 1
    exponent = weir.where(safe / exponent.exp2() >= 1, exponent + 1, exponent)  # log2 may round up to a whole number
    exponent = weir.where(safe / exponent.exp2() < 0.5, exponent - 1, exponent)
    ordinary = weir.isfinite(wide) & (wide != 0)
    exponent = weir.where(ordinary, exponent, weir.zeros_like(exponent))
    return (input / exponent.exp2().to(input.dtype)), exponent.to(weir.int32)


@composite(inplace=True)
def multigammaln(input: Tensor, p):
    """Log of the multivariate gamma function of dimension p."""
    if p < 1:
        raise RuntimeError(f"p has to be greater than or equal to 1, got {p}")
    wide = input if input.is_floating_point() else input.to(weir.get_default_dtype())
    halves = (weir.arange(p, dtype=wide.dtype) - (p - 1)) * 0.5  # the last is a zero to add: it leaves no -0
    return weir.lgamma(wide.unsqueeze(-1) + halves).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


alias("mvlgamma", "multigammaln")


@composite(out=None)
def isclose(input: Tensor, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """|input - other| <= atol + rtol |other|, element by element."""
    _need_tensor("isclose", other)
    if input.dtype != other.dtype:
        raise RuntimeError(f"{input.dtype} did not match {other.dtype}")
    if rtol < 0 or atol < 0:
        raise RuntimeError("rtol and atol must be greater than or equal to zero, but got "
                           f"{rtol if rtol < 0 else atol}")
    close = input == other
    if equal_nan and inexact(input):
        close = close | (weir.isnan(input) & weir.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    wide = input if inexact(input) else input.double()
    wide_other = other if inexact(other) else other.double()
    distance = (wide - wide_other).abs()
    return close | (weir.isfinite(distance) & (distance <= atol + rtol * wide_other.abs()))


@composite(out=None)
def allclose(input: Tensor, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Are all elements close?"""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@composite(out=None)
def equal(input: Tensor, other):
    """Same shape and elements?"""
    _need_tensor("equal", other)
    return input.shape == other.shape and bool((input == other).all())


@composite(method=False, out=None)
def typename(obj):
    """Dotted name of an object's type."""
    if isinstance(obj, Tensor) and type(obj) is Tensor:
        return obj.type()
    module = getattr(type(obj), "__module__", "") or ""
    return type(obj).__qualname__ if module in ("builtins", "__builtin__", "") else f"{module}.{type(obj).__qualname__}"


@composite(method=False)
def is_tensor(obj):
    """Is it a Tensor?"""
    return isinstance(obj, Tensor)


@composite(method=False, out=None)
def is_floating_point(input: Tensor):
    """Is its dtype a floating-point one?"""
    return input.is_floating_point()


@composite(method=False, out=None)
def is_nonzero(input: Tensor):
    """Is the one element nonzero?"""
    return bool(input)


@composite(method=False, out=None)
def numel(input: Tensor):
    """The number of elements."""
    return input.numel()

