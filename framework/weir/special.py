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
