"""What a special function is, and its derivatives, in more digits than double precision has: of some the oracle keeps few, in double precision
too, and so cannot judge better ones."""

import math
from contextlib import suppress

import numpy as np

from ..cases import dtypes
from ..cases.case import TensorSpec, cotangents, leaves, seen
from . import tolerance

_BITS = 160
_OF_TWO = {"igamma", "igammac", "gammainc", "gammaincc", "logaddexp"}  # functions of two arguments
_MOST = 512  # elements of a case that mpmath is asked about: each takes milliseconds
_NEAREST, _FARTHEST = 1e-45, 1e7  # arguments of gamma functions and of exponentials: beyond, mpmath takes seconds or gives up
_ULPS = 32.0  # of the wave that a function of `_ORDERS` is a point of: beside its zeros no digit of its own is left
_ORDERS = {"bessel_j0": 0, "bessel_j1": 1, "bessel_y0": 0, "bessel_y1": 1}


def _functions(mp) -> dict:
    """The function of mpmath's under each of PyTorch's names."""
    gamma = {"igamma": lambda a, x: mp.gammainc(a, 0, x, regularized=True), "igammac": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)}
    normal = {"ndtr": mp.ncdf, "log_ndtr": lambda x: mp.log(mp.ncdf(x)), "ndtri": lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1)}

    def logaddexp(a, b):  # whose phase goes on from that of the larger term
        low, high = sorted((a, b), key=lambda x: x.real)
        return high + mp.log(1 + mp.exp(low - high))

    return {"logaddexp": logaddexp, "airy_ai": lambda x: mp.airyai(x), "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x), "sinc": lambda x: mp.sinc(mp.pi * x), **gamma, **normal,
            "gammainc": gamma["igamma"], "gammaincc": gamma["igammac"], "bessel_j0": lambda x: mp.besselj(0, x), "bessel_j1": lambda x: mp.besselj(1, x),
            "bessel_y0": lambda x: mp.bessely(0, x), "bessel_y1": lambda x: mp.bessely(1, x), "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x)}


def better(item, fault, w: np.ndarray, t: np.ndarray, epsilon: float, left: np.ndarray) -> np.ndarray | None:
    """Where, among the elements that are `left`, `w` has the digits of mpmath's answer to the case, and the oracle's `t` fewer; None for an
    operation that mpmath is not asked about. Of many elements so many as stand evenly among them are asked, and speak for all or for themselves.

    Those of a function are as many as it leaves of its argument's: |w - f(x)| <= c eps (|f(x)| + |x f'(x)|)."""
    from mpmath import MPContext
    mp = MPContext()  # one's own: threads judge side by side
    mp.prec = _BITS
    names = _functions(mp)
    name = next((name for path in item.target.paths if (name := path.split(".")[-1].rstrip("_")) in names), None)
    args = item.case.args
    order = {"values": 0, "written": 0, "gradients": 1, "second": 2}.get(fault.phase)
    if name is None or order is None or not all(isinstance(x, TensorSpec) for x in args) or len(args) != (2 if name in _OF_TWO else 1):
        return None
    if order and len(args) != 1:
        return None
    inputs = [np.asarray(seen(dtypes.to_array(item.case.storages[x.storage][1], x.dtype), x)) for x in args]
    whole, shape = w.shape, np.broadcast_shapes(*(x.shape for x in inputs))
    place = written_part(item.case, fault, whole)
    if (place is None and shape != whole) or (place is not None and place.shape != shape):
        return None
    w, t, left = (x if place is None else x.reshape(-1)[place] for x in (w, t, left))
    inputs = np.broadcast_arrays(*inputs)
    asked = left & np.isfinite(w)
    if "gamm" in name or name == "erfcx":
        for x in inputs:
            asked = asked & ((x == 0) | ((np.abs(x) <= _FARTHEST) & (np.abs(x) >= _NEAREST)))
    known = np.zeros(shape, bool)
    factors = cotangents(math.prod(shape)).reshape(shape) ** order
    places = np.argwhere(asked)
    some = places[np.unique(np.linspace(0, len(places) - 1, min(len(places), _MOST)).astype(int))] if len(places) else places
    for at in map(tuple, some):
        with suppress(ArithmeticError, ValueError, mp.NoConvergence):
            known[at] = _is_better(mp, names[name], name, [mp.mpmathify(x[at].item()) for x in inputs], order, factors[at], w[at], t[at], epsilon)
    if len(some) < len(places) and known[tuple(some.T)].all():
        known = asked
    if place is None:
        return known
    found = np.zeros(whole, bool)
    found.reshape(-1)[place] = known
    return found


def _is_better(mp, function, name: str, x: list, order: int, factor: float, w, t, epsilon: float) -> bool:
    """Whether `w` is the answer of mpmath's to a call, but for rounding, and `t` further from it."""
    def derivative(n: int):
        found = function(*x) if n == 0 else mp.diff(function, *x, n) if len(x) == 1 else mp.diff(function, tuple(x), (0, n))
        return mp.conj(found) * factor if order else found

    true = derivative(order)
    gap = abs(mp.mpmathify(w.item()) - true)
    if np.isfinite(t) and gap >= abs(mp.mpmathify(t.item()) - true):
        return False
    if name in _ORDERS and order == 0:
        size = mp.hypot(mp.besselj(_ORDERS[name], x[0]), mp.bessely(_ORDERS[name], abs(x[0])))
        return bool(gap <= _ULPS * epsilon * size)
    step = float(np.finfo(w.dtype).tiny) * epsilon  # one among denormals
    return bool(gap <= max(tolerance.ULPS * epsilon * (abs(true) + abs(x[-1] * derivative(order + 1))), step))


def written_part(case, fault, shape: tuple) -> np.ndarray | None:
    """Which elements of the memory that is compared an `out=` sees; None where it is a result that is compared."""
    if fault.phase != "written" or fault.position >= 0:
        return None
    spec = next(spec for spec in leaves((case.args, case.kwargs)) if isinstance(spec, TensorSpec) and spec.id == -1 - fault.position)
    return seen(np.arange(math.prod(shape)), spec)
