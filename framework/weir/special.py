"""torch.special: special functions, the core's under their names here and compositions over them."""

import functools
import math

import weir
from weir import _C
from weir._C import Tensor

from ._composites._register import functions, with_out

_torch = _C.ops["torch"]
globals().update(_C.ops.get("special", {}))


def _pick(name):
    return _C.ops.get("special", {}).get(name) or _torch.get(name) or functions.get(name)


for _name, _source in (
        ("expit", "sigmoid"), ("psi", "digamma"), ("digamma", "digamma"), ("gammaln", "lgamma"), ("erf", "erf"),
        ("erfc", "erfc"), ("erfcx", "erfcx"), ("erfinv", "erfinv"), ("exp2", "exp2"), ("expm1", "expm1"),
        ("log1p", "log1p"), ("logit", "logit"), ("logsumexp", "logsumexp"), ("sinc", "sinc"), ("round", "round"),
        ("xlogy", "xlogy"), ("xlog1py", "xlog1py"), ("i0", "i0"), ("i0e", "i0e"), ("i1", "i1"), ("i1e", "i1e"),
        ("ndtri", "ndtri"), ("log_ndtr", "log_ndtr"), ("entr", "entr"), ("polygamma", "polygamma"),
        ("multigammaln", "multigammaln"), ("gammainc", "igamma"), ("gammaincc", "igammac")):
    if _pick(_source) is not None:
        globals()[_name] = _pick(_source)


def _checked(x):
    if not isinstance(x, Tensor):
        raise TypeError(f"argument 'input' must be Tensor, not {type(x).__name__}")
    return x if x.is_floating_point() else x.to(weir.get_default_dtype())


def softmax(input, dim, dtype=None):
    """exp(x) along dim, scaled to sum to 1."""
    return weir.softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """log(softmax(x)) along dim."""
    return weir.log_softmax(input, dim, dtype=dtype)


@functools.partial(with_out, recorded=True)
def ndtr(input):
    """The normal distribution function."""
    x = _checked(input) * math.sqrt(0.5)
    return (1 + weir.erf(x.double()).to(x.dtype)) * 0.5  # in the lower tail the last bit of erf is most of what is left


def _constant(function):
    """`function` with `out=`, and without gradients: PyTorch has none for Bessel functions and polynomials."""
    @functools.wraps(function)
    def plain(*args):
        return function(*(x.detach() if isinstance(x, Tensor) else x for x in args))
    return with_out(plain)


def _bessel(name, source, doc):
    def bessel(input):
        return _pick(source)(_checked(input))

    bessel.__name__, bessel.__doc__ = name, doc
    return _constant(bessel)


modified_bessel_i0 = _bessel("modified_bessel_i0", "i0", "Modified Bessel function of the first kind, order 0.")
modified_bessel_i1 = _bessel("modified_bessel_i1", "i1", "Modified Bessel function of the first kind, order 1.")


@_constant
def spherical_bessel_j0(input):
    """sin(x) / x, 1 at 0 and 0 at infinity."""
    x = _checked(input)
    return weir.where(weir.isinf(x), weir.zeros((), dtype=x.dtype), weir.sinc(x / math.pi))


def _polynomial(name, first, kind, doc, closed=None, largest=None, at=lambda x: x):
    """An orthogonal polynomial of at(x) by its three-term recurrence, from p_1 = first(at(x)); `kind` names it in the core.

    closed(x, n) gives (where, value) pairs that go before it, in rising priority, as PyTorch's kernels have them; above
    `largest` degrees, {dtype: n}, the value is NaN.
    """
    def polynomial(x, n):
        if not isinstance(x, Tensor) and not isinstance(n, Tensor):
            raise TypeError(f"special.{name}(): x or n must be a Tensor")
        dtype = weir.result_type(x, n)
        dtype = dtype if dtype.is_floating_point else weir.get_default_dtype()
        if dtype in (weir.float16, weir.bfloat16):
            raise NotImplementedError(f"special.{name}: not implemented for {dtype}")
        x, n = (t.to(dtype) if isinstance(t, Tensor) else weir.tensor(t, dtype=dtype) for t in (x, n))
        like = weir.empty_like(x + n)  # laid out as an op of x and n
        x, n = weir.broadcast_tensors(x, n)
        # A degree that no integer holds counts as none, as the cast to int64 has it.
        n = weir.where(n.abs() < 2.0 ** 62, n, weir.full_like(n, -1)).trunc()
        chosen = [(n <= 0, (n == 0).to(dtype))] + (closed(x, n) if closed else [])
        if largest:
            chosen.append((n > largest.get(dtype, 128), weir.full_like(x, math.nan)))
        pending = weir.ones_like(x, dtype=weir.bool)
        for where, _ in chosen:
            pending = pending & ~where
        recurrence = weir._C.ops["hidden"]["recurrence"]
        result = recurrence(at(x), first(at(x)), weir.where(pending, n, weir.zeros_like(n)), kind)
        for where, value in chosen[1:] + chosen[:1]:
            result = weir.where(where, value, result)
        return like.copy_(result)

    polynomial.__name__, polynomial.__doc__ = name, doc
    return _constant(polynomial)


def _sign(n):
    """(-1) ** n"""
    return 1 - 2 * (n % 2)


#: Of each Chebyshev kind: p_1, the values at 1 and -1, by the angle acos(x), and from which degree on PyTorch takes the
#: angle, plain and shifted.
_CHEBYSHEV = {
    "t": (lambda x: x, lambda n: n * 0 + 1, _sign, lambda a, n: (n * a).cos(), (6, 6)),
    "u": (lambda x: x + x, lambda n: n + 1, lambda n: _sign(n) * (n + 1), lambda a, n: ((n + 1) * a).sin() / a.sin(), (8, 6)),
    "v": (lambda x: x + x - 1, lambda n: n * 0 + 1, lambda n: _sign(n) * (n + n + 1),
          lambda a, n: ((n + 0.5) * a).cos() / (a / 2).cos(), (8, 6)),
    "w": (lambda x: x + x + 1, lambda n: n + n + 1, _sign, lambda a, n: ((n + 0.5) * a).sin() / (a / 2).sin(), (8, 4)),
}


def _chebyshev(kind, shifted):
    first, at_one, at_minus_one, by_angle, degrees = _CHEBYSHEV[kind]
    at = (lambda x: x + x - 1) if shifted else (lambda x: x)

    def closed(x, n):
        x = at(x)
        return [((n > degrees[shifted]) & (x.abs() < 1), by_angle(x.acos(), n)), (x == 1, at_one(n)),
                (x == -1, at_minus_one(n))]

    return _polynomial(("shifted_" if shifted else "") + f"chebyshev_polynomial_{kind}", first, "chebyshev",
                       f"Chebyshev polynomial of kind {kind.upper()}.", closed, at=at)


for _kind in _CHEBYSHEV:
    for _shifted in (False, True):
        _function = _chebyshev(_kind, _shifted)
        globals()[_function.__name__] = _function

#: Above, Hermite polynomials leave the range of their dtype.
_HERMITE = {weir.float64: 512}
hermite_polynomial_h = _polynomial("hermite_polynomial_h", lambda x: x + x, "hermite_h",
                                   "Physicists' Hermite polynomial.", largest=_HERMITE)
hermite_polynomial_he = _polynomial("hermite_polynomial_he", lambda x: x, "hermite_he",
                                    "Probabilists' Hermite polynomial.", largest=_HERMITE)
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", lambda x: 1 - x, "laguerre", "Laguerre polynomial.",
                                    lambda x, n: [(x == 0, weir.ones_like(x))])
legendre_polynomial_p = _polynomial("legendre_polynomial_p", lambda x: x, "legendre", "Legendre polynomial.",
                                    lambda x, n: [(x == 1, weir.ones_like(x)), (x == -1, _sign(n))])
