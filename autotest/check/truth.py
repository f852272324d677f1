"""What a special function is, and its derivatives, in more digits than double precision has: of some the oracle keeps few, in double precision
too, and so cannot judge better ones."""

import functools
import math
from contextlib import suppress

import numpy as np

from ..cases import dtypes
from ..cases.case import TensorSpec, cotangents, gradient_inputs, leaves, seen
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


def _slopes_of_logaddexp(mp, a, b) -> dict:
    """Its derivatives by how often each argument's is taken: differences have none of the digits of a term far below the other."""
    def share(above):  # of a term, by how far the other one is above it
        return mp.mpf(above.real < 0) if mp.isinf(above.real) else 1 / (1 + mp.exp(above))

    of_a, of_b = share(b - a), share(a - b)
    both = of_a * of_b
    thrice = both * (of_b - of_a)
    return {(1, 0): of_a, (0, 1): of_b, (2, 0): both, (1, 1): -both, (0, 2): both, (3, 0): thrice, (2, 1): -thrice, (1, 2): thrice}


def better(item, fault, w: np.ndarray, t: np.ndarray, epsilon: float, left: np.ndarray) -> np.ndarray | None:
    """Where, among the elements that are `left`, `w` has the digits of mpmath's answer to the case, whatever those of the oracle's `t` are; None for an
    operation that mpmath is not asked about. Of many elements so many as stand evenly among them are asked, and speak for all or for themselves.

    Those of a function are as many as it leaves of its argument's: |w - f(x)| <= c eps (|f(x)| + |x f'(x)|)."""
    from mpmath import MPContext
    mp = MPContext()  # one's own: threads judge side by side
    mp.prec = _BITS
    names = _functions(mp)
    name = next((name for path in item.target.paths if (name := path.split(".")[-1].rstrip("_")) in names), None)
    args = item.case.args
    if any(path.endswith("logcumsumexp") for path in item.target.paths):
        return _running_sums(mp, names["logaddexp"], item.case, fault, w, epsilon, left)
    order = {"values": 0, "written": 0, "gradients": 1, "second": 2}.get(fault.phase)
    if name is None or order is None or not all(isinstance(x, TensorSpec) for x in args) or len(args) != (2 if name in _OF_TWO else 1):
        return None
    if order and len(args) != 1 and name != "logaddexp":
        return None
    inputs = [np.asarray(seen(dtypes.to_array(item.case.storages[x.storage][1], x.dtype), x)) for x in args]
    inputs = [np.conj(x) if spec.conj else x for spec, x in zip(args, inputs)]
    whole, shape = w.shape, np.broadcast_shapes(*(x.shape for x in inputs))
    place = written_part(item.case, fault, whole)
    if (place.shape if place is not None else np.broadcast_shapes(whole, shape) if order else whole) != shape:
        return None
    w, t, left = (x if place is None else x.reshape(-1)[place] for x in (w, t, left))
    inputs = np.broadcast_arrays(*inputs)
    asked = left & np.isfinite(w)
    if "gamm" in name or name == "erfcx":
        for x in inputs:
            asked = asked & ((x == 0) | ((np.abs(x) <= _FARTHEST) & (np.abs(x) >= _NEAREST)))
    known = np.zeros(w.shape, bool)
    factors = _factors(item.case, fault.position, order, shape)
    places, owner = np.argwhere(asked), np.broadcast_to(np.arange(w.size).reshape(w.shape), shape)  # a gradient is the sum over what broadcasting repeats
    most = min(len(places), -(-_MOST * w.size // owner.size))
    some = places[np.unique(np.linspace(0, len(places) - 1, most).astype(int))] if len(places) else places
    for at in map(tuple, some):
        with suppress(ArithmeticError, ValueError, mp.NoConvergence):
            points = [([mp.mpmathify(x[i].item()) for x in inputs], [(way, factor[i]) for way, factor in factors])
                      for i in map(tuple, np.argwhere(owner == (np.ravel_multi_index(at, w.shape) if at else 0)))]
            known[at] = _is_right(mp, names[name], name, points, w[at], t[at], epsilon)
    if len(some) < len(places) and known[tuple(some.T)].all():
        known = asked
    if place is None:
        return known
    found = np.zeros(whole, bool)
    found.reshape(-1)[place] = known
    return found


def _running_sums(mp, logaddexp, case, fault, w: np.ndarray, epsilon: float, left: np.ndarray) -> np.ndarray | None:
    """Where `w` is the logarithm of the sum of the exponentials up to its place: the phase goes on from sum to sum, as in `logaddexp`."""
    given = {**dict(zip(("input", "dim"), case.args)), **case.kwargs}
    x, dim = given.get("input"), given.get("dim")
    if fault.phase != "values" or not isinstance(x, TensorSpec) or not isinstance(dim, int) or w.shape != tuple(x.size) or not w.ndim:
        return None
    numbers = np.asarray(seen(dtypes.to_array(case.storages[x.storage][1], x.dtype), x))
    numbers, known = np.moveaxis(np.conj(numbers) if x.conj else numbers, dim, -1), np.zeros(w.shape, bool)
    asked, right, got = np.moveaxis(left & np.isfinite(w), dim, -1), np.moveaxis(known, dim, -1), np.moveaxis(w, dim, -1)
    for at in [tuple(at) for at in np.argwhere(asked)][:_MOST // max(numbers.shape[-1], 1)]:
        terms = numbers[at[:-1]][:at[-1] + 1]
        if np.abs(terms).max() <= _FARTHEST:  # no NaN either
            true = functools.reduce(logaddexp, (mp.mpmathify(term.item()) for term in terms))
            gap = abs(mp.mpmathify(got[at].item()) - true)
            right[at] = gap <= tolerance.ULPS * epsilon * (abs(true) + mp.mpf(float(np.abs(terms).max())))
    return known


def _factors(case, position: int, order: int, shape: tuple) -> list:
    """The derivatives whose sum a result is, by how often each argument's is taken, and what each is multiplied by: cotangents of the results, and in
    a second derivative those of the gradients too."""
    along = [case.args.index(spec) for spec in gradient_inputs(case)] if order else []
    ones = np.eye(len(case.args), dtype=int)
    if not order:
        return [((0,) * len(case.args), np.ones(shape))]
    sent = cotangents(math.prod(shape)).reshape(shape)
    if order == 1:
        return [(tuple(ones[along[position]]), sent)]
    sizes = [tuple(case.args[i].size) for i in along]
    return [(tuple(ones[along[position]] + ones[i]), sent * cotangents(math.prod(size)).reshape(size)) for i, size in zip(along, sizes)]


def _terms(mp, function, name: str, x: list, ways: list) -> tuple:
    """The derivatives at one point, conjugate and with their factors, and what an epsilon in the arguments does to their sum, in epsilons."""
    slopes = _slopes_of_logaddexp(mp, *x) if name == "logaddexp" and any(ways[0][0]) else None

    def derivative(way: tuple):
        if slopes:
            return slopes[way]
        return function(*x) if not any(way) else mp.diff(function, *x, *way) if len(x) == 1 else mp.diff(function, tuple(x), way)

    terms = [(mp.conj(derivative(way)) if any(way) else derivative(way)) * factor for way, factor in ways]
    if slopes:
        steepest = max(abs(derivative((n + 1, m)) * factor) for (n, m), factor in ways)  # by the other argument it is as steep
        return terms, steepest * sum(abs(number) for number in x if mp.isfinite(number))
    (*others, last), factor = ways[0]
    return terms, 0 if name in _ORDERS and not any(ways[0][0]) else abs(x[-1] * derivative((*others, last + 1)) * factor)


def _is_right(mp, function, name: str, points: list, w, t, epsilon: float) -> bool:
    """Whether `w` is the answer of mpmath's to a call, but for rounding; beside zeros of waves, for that of the wave, if `t` is further from it."""
    found = [_terms(mp, function, name, *point) for point in points]
    true = mp.fsum(term for terms, _ in found for term in terms)
    true = true if np.iscomplexobj(w) else mp.re(true)
    gap = abs(mp.mpmathify(w.item()) - true)
    ((x, *_), ((way, _), *_)) = points[0]
    if name in _ORDERS and not any(way):
        size = mp.hypot(mp.besselj(_ORDERS[name], x), mp.bessely(_ORDERS[name], abs(x)))
        farther = not np.isfinite(t) or gap < abs(mp.mpmathify(t.item()) - true)
        return bool(gap <= (_ULPS if farther else tolerance.ULPS) * epsilon * size)
    size = abs(true) if len(found) == 1 else mp.fsum(abs(term) for terms, _ in found for term in terms)
    step = float(np.finfo(w.dtype).tiny) * epsilon  # one among denormals
    return bool(gap <= max(tolerance.ULPS * epsilon * (size + mp.fsum(moved for _, moved in found)), step * len(found)))


def written_part(case, fault, shape: tuple) -> np.ndarray | None:
    """Which elements of the memory that is compared an `out=` sees; None where it is a result that is compared."""
    if fault.phase != "written" or fault.position >= 0:
        return None
    spec = next(spec for spec in leaves((case.args, case.kwargs)) if isinstance(spec, TensorSpec) and spec.id == -1 - fault.position)
    return seen(np.arange(math.prod(shape)), spec)
