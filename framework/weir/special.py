"""torch.special: special functions, the core's under their names here and compositions over them."""

import weir
from weir import _C

from ._composites._register import functions, numpy_named

_torch = _C.ops["torch"]
globals().update(_C.ops.get("special", {}))


def _pick(name):
    return _C.ops.get("special", {}).get(name) or _torch.get(name) or functions.get(name)


for _name, _source in (
        ("expit", "sigmoid"), ("psi", "digamma"), ("digamma", "digamma"), ("gammaln", "lgamma"), ("erf", "erf"),
        ("erfc", "erfc"), ("erfcx", "erfcx"), ("erfinv", "erfinv"), ("exp2", "exp2"), ("expm1", "expm1"),
        ("log1p", "log1p"), ("logit", "logit"), ("logsumexp", "logsumexp"), ("sinc", "sinc"),
        ("xlogy", "xlogy"), ("xlog1py", "xlog1py"), ("i0", "i0"), ("i0e", "i0e"), ("i1", "i1"), ("i1e", "i1e"),
        ("ndtri", "ndtri"), ("log_ndtr", "log_ndtr"), ("entr", "entr"), ("polygamma", "polygamma"),
        ("multigammaln", "mvlgamma"), ("gammainc", "igamma"), ("gammaincc", "igammac")):
    if _pick(_source) is not None:
        globals()[_name] = _pick(_source)


@numpy_named
def round(input, *, decimals=0, out=None):
    """Nearest number with so many decimals. NotImplementedError for integers, which have none."""
    return weir.round(input, decimals=decimals, out=out)


@numpy_named
def softmax(input, dim, dtype=None):
    """exp(x) along dim, scaled to sum to 1."""
    return weir.softmax(input, dim, dtype=dtype)


@numpy_named
def log_softmax(input, dim, *, dtype=None):
    """log(softmax(x)) along dim."""
    return weir.log_softmax(input, dim, dtype=dtype)


__all__ = [*sorted(_name for _name in globals() if not _name.startswith("_") and _name not in ("functions", "numpy_named", "weir"))]
