"""torch.special: special functions, the core's under their names here and compositions over them."""

import math

import weir
from weir import _C
from weir._C import Tensor

from ._composites._register import functions

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
        ("multigammaln", "multigammaln"), ("modified_bessel_i0", "i0"), ("modified_bessel_i1", "i1")):
    if _pick(_source) is not None:
        globals()[_name] = _pick(_source)


def _checked(x):
    if not isinstance(x, Tensor):
        raise TypeError(f"argument 'input' must be Tensor, not {type(x).__name__}")
    return x if x.is_floating_point() else x.to(weir.get_default_dtype())


def softmax(input, dim, *, dtype=None):
    """exp(x) along dim, scaled to sum to 1."""
    return weir.softmax(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """log(softmax(x)) along dim."""
    return weir.log_softmax(input, dim, dtype=dtype)


def ndtr(input):
    """The normal distribution function."""
    x = _checked(input) * math.sqrt(0.5)
    return weir.where(x.abs() < math.sqrt(0.5), 0.5 + 0.5 * weir.erf(x),
                      weir.where(x > 0, 1 - 0.5 * weir.erfc(x.abs()), 0.5 * weir.erfc(x.abs())))


def _polynomial(name, first, step, doc):
    """An orthogonal polynomial by its three-term recurrence p_{k+1} = step(x, k, p_k, p_{k-1})."""
    def polynomial(x, n):
        if not isinstance(x, Tensor) and not isinstance(n, Tensor):
            raise TypeError(f"special.{name}(): x or n must be a Tensor")
        x = _checked(x) if isinstance(x, Tensor) else weir.tensor(float(x))
        degree = n if isinstance(n, Tensor) else weir.tensor(n)
        x, degree = weir.broadcast_tensors(x, degree)
        degree = degree.to(weir.int64)
        before, current = weir.ones_like(x), first(x)
        result = weir.where(degree < 0, weir.zeros_like(x), before)
        for k in range(1, int(degree.max()) + 1 if degree.numel() else 0):
            result = weir.where(degree == k, current, result)
            before, current = current, step(x, k, current, before)
        return result

    polynomial.__name__, polynomial.__doc__ = name, doc
    return polynomial


def _chebyshev(kind, shifted, first):
    name = ("shifted_" if shifted else "") + f"chebyshev_polynomial_{kind}"
    at = (lambda x: 2 * x - 1) if shifted else (lambda x: x)
    return _polynomial(name, lambda x: first(at(x)), lambda x, k, p, q: 2 * at(x) * p - q,
                       f"Chebyshev polynomial of kind {kind.upper()}.")


for _kind, _first in (("t", lambda x: x), ("u", lambda x: 2 * x), ("v", lambda x: 2 * x - 1), ("w", lambda x: 2 * x + 1)):
    for _shifted in (False, True):
        _function = _chebyshev(_kind, _shifted, _first)
        globals()[_function.__name__] = _function

hermite_polynomial_h = _polynomial("hermite_polynomial_h", lambda x: 2 * x, lambda x, k, p, q: 2 * (x * p - k * q),
                                   "Physicists' Hermite polynomial.")
hermite_polynomial_he = _polynomial("hermite_polynomial_he", lambda x: x, lambda x, k, p, q: x * p - k * q,
                                    "Probabilists' Hermite polynomial.")
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l", lambda x: 1 - x,
                                    lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1), "Laguerre polynomial.")
legendre_polynomial_p = _polynomial("legendre_polynomial_p", lambda x: x,
                                    lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1), "Legendre polynomial.")


def spherical_bessel_j0(x):
    """sin(x) / x."""
    return weir.sinc(_checked(x) / math.pi)
