"""What a special function is, by SciPy: of some the oracle keeps few digits, in double precision too, and so cannot judge better ones."""

import numpy as np

from ..cases import dtypes
from ..cases.case import TensorSpec, seen
from . import tolerance

#: The function of SciPy's under each of PyTorch's names. Its `jv` and `yv` have digits where `j0` and its kin, as PyTorch's, have none left.
_NAMES = {"airy_ai": lambda special, x: special.airy(x)[0], "bessel_j0": lambda special, x: special.jv(0, x),
          "bessel_j1": lambda special, x: special.jv(1, x), "bessel_y0": lambda special, x: special.yv(0, x),
          "bessel_y1": lambda special, x: special.yv(1, x), "igamma": lambda special, a, x: special.gammainc(a, x),
          "igammac": lambda special, a, x: special.gammaincc(a, x), "gammainc": lambda special, a, x: special.gammainc(a, x),
          "gammaincc": lambda special, a, x: special.gammaincc(a, x)}
_ORDERS = {"bessel_j0": 0, "bessel_j1": 1, "bessel_y0": 0, "bessel_y1": 1}
_ULPS = 32.0  # of the wave that a function of these is a point of: beside its zeros no digit of its own is left


def better(item, w: np.ndarray, t: np.ndarray, epsilon: float) -> np.ndarray | None:
    """Where `w` is within rounding of SciPy's double-precision answer to the case, and the oracle's `t` further from it; None for an
    operation that SciPy is not asked about."""
    name = next((name for path in item.target.paths if (name := path.split(".")[-1]) in _NAMES), None)
    function = _NAMES.get(name)
    args = item.case.args
    if function is None or len(args) + 1 != function.__code__.co_argcount or not all(isinstance(x, TensorSpec) for x in args):
        return None
    from scipy import special
    with np.errstate(all="ignore"):
        inputs = [np.asarray(seen(dtypes.to_array(item.case.storages[x.storage][1], x.dtype), x), np.float64) for x in args]
        true = np.asarray(function(special, *inputs))
        if true.shape != w.shape:
            return None
        held = true.astype(w.dtype)
        near = tolerance.close(w, held, epsilon) | (np.abs(w - held) <= np.finfo(w.dtype).tiny * epsilon)  # the last: one step among denormals
        if name in _ORDERS:
            x = np.abs(inputs[0])
            near |= np.abs(w - true) <= _ULPS * epsilon * np.hypot(special.jv(_ORDERS[name], x), special.yv(_ORDERS[name], x))
        return near & ((np.abs(w - true) < np.abs(t - true)) | np.isnan(t))
