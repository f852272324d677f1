"""When two floating results count as equal.

`close` is the cheap test. Elements it rejects are looked at again by `conditioned`, which allows
an error in proportion to what the op itself does to an error of one epsilon in its inputs, so that
ill-conditioned ops are not false alarms and well-conditioned ones get no slack.

Notation: w the subject's result, t the oracle's, r the oracle's in double precision, r_j the same
on inputs perturbed by one epsilon. All functions return a boolean mask, True where accepted.
"""

import math

import numpy as np

ULPS = 4.0  # c: epsilons of relative error any result may have
AMPLIFICATION = 4.0  # k: how far beyond the observed conditioning or the oracle's own error
LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.403e38, "complex32": 65504.0, "complex64": 3.403e38}
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "complex32": 2.0**-24, "complex64": 2.0**-149}  # the step among denormals
_JUMP = 2.0**-8  # of the larger of two numbers, or of 1
_ALIKE = 16.0  # estimates of the same noise, from a few numbers, may differ by so much
FACTORY_ULPS = 16.0  # for ops without floating inputs there is nothing to perturb


def same(w: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Equal, or NaN in both; complex parts one by one."""
    if np.iscomplexobj(w) or np.iscomplexobj(t):
        return same(w.real, t.real) & same(w.imag, t.imag)
    if w.dtype.kind == "f" or t.dtype.kind == "f":
        return (w == t) | (np.isnan(w) & np.isnan(t))
    return np.asarray(w == t)


def close(w: np.ndarray, t: np.ndarray, epsilon: float) -> np.ndarray:
    """Rules 1 and 2: the same, or |w - t| <= c eps |t|."""
    if w.dtype.kind not in "fc":
        return same(w, t)
    with np.errstate(all="ignore"):
        difference = np.abs(_wide(w) - _wide(t))
        return same(w, t) | _at_most(difference, ULPS * epsilon * np.abs(_wide(t)))


def conditioned(w, t, r, perturbed: list, epsilon: float, factory: bool = False, pointwise: bool = False, dtype: str = "") -> np.ndarray:
    """Rules 3 and 4.

    3: |w - r| <= max(c eps |r|, k |t - r|, k max_j |r_j - r|, min(k ||t - r||, 4 c eps ||r||)).
    4: w within c eps of some r_j, for functions with jumps such as floor; where all of them are whole numbers, nothing between.
    With `factory` (no floating inputs) rule 3 also allows 16 eps ||r||, and whole numbers, of others, are no jumps. With `pointwise` an element has no share in the size of
    others: the norms drop out. A number beyond the largest of `dtype` is no error of the oracle's where it has none, and a step among its
    denormals is a rounding.
    """
    with np.errstate(all="ignore"):
        w, t, r = _wide(w), _wide(t), _wide(r)
        bound = np.fmax(np.maximum(ULPS * epsilon * np.abs(r), SMALLEST.get(dtype, 0.0)), AMPLIFICATION * _finite(np.abs(t - r)))
        steps = np.asarray(not factory) & _whole(r) & np.logical_and.reduce([_whole(rj) for rj in perturbed] or [np.zeros(r.shape, bool)])
        for rj in perturbed:
            bound = np.fmax(bound, np.where(steps, 0.0, AMPLIFICATION * _finite(np.abs(rj - r))))
        if not pointwise:
            own = np.inf if (~np.isfinite(t) & (np.abs(r) <= LARGEST.get(dtype, np.inf)) & np.isfinite(r)).any() else norm(t - r)  # no number at all is the largest error
            bound = np.maximum(bound, min(AMPLIFICATION * own, 4 * ULPS * epsilon * norm(r)))
        if factory:
            bound = np.maximum(bound, FACTORY_ULPS * epsilon * norm(r))
        accepted = same(w, r) | _at_most(np.abs(w - r), bound)
        for rj in perturbed:
            accepted |= same(w, rj) | _at_most(np.abs(w - rj), ULPS * epsilon * np.abs(rj))
        return accepted


def certain(t, r, perturbed: list) -> np.ndarray:
    """Where a jump is no excuse: double precision gives the very number that the oracle gave, so nothing was rounded on the way, and
    only inputs that were moved across the jump give another, as `floor(3.)` or the gradient of equal maxima."""
    with np.errstate(all="ignore"):
        t, r, jump = _wide(t), _wide(r), np.zeros(np.shape(t), bool)
        for rj in map(_wide, perturbed):
            whole = _whole(r) & _whole(rj) & (rj != r)
            jump |= whole | (np.abs(rj - r) > _JUMP * np.maximum(np.maximum(np.abs(r), np.abs(rj)), 1.0))
        return same(t, r) & jump


def unsteady(w, t, own: list, scale: float = 1.0) -> np.ndarray:
    """Rule 5: |w - t| <= k max_j |t_j - t|, where t_j are the oracle's results in the same precision for inputs moved by an
    epsilon. They show what rounding does inside a computation, of which double precision knows nothing: a norm over two
    numbers, a recurrence."""
    with np.errstate(all="ignore"):
        w, t = _wide(w), _wide(t)
        bound = np.zeros(t.shape)
        for tj in own:
            bound = np.fmax(bound, AMPLIFICATION * scale * _finite(np.abs(_wide(tj) - t)))
        return _at_most(np.abs(w - t), bound)


def as_uncertain(w, t, r, own: list) -> np.ndarray:
    """Rule 3 by norms without its limit of a few roundings, where the oracle's own results in the same precision wander too: |w - r| <=
    k min(||t - r||, max_j ||t_j - t||). What large numbers lose on the way to small ones, as exponents of a softmax, shows in neither the inputs nor ||r||; an
    element that the oracle has right by chance does not bound the others."""
    with np.errstate(all="ignore"):
        w, t, r = _wide(w), _wide(t), _wide(r)
        wandered = max((norm(_wide(tj) - t) for tj in own), default=0.0)
        return _at_most(np.abs(w - r), AMPLIFICATION * min(norm(t - r), wandered))


def as_in_single(w, t, single: list, pointwise: bool = False) -> np.ndarray:
    """Rule 6, for double precision: |w - t| <= k max_j |s_j - t| eps64 / eps32, where s_j are the oracle's results in single
    precision; without `pointwise` also by norms. Nothing wider shows the error of t, but a narrower run shows how many epsilons the computation loses."""
    accepted = unsteady(w, t, single, scale=2.0**-29)
    if not pointwise:  # an element whose single-precision error is small by chance says nothing of the others: as in rule 3, by norms
        with np.errstate(all="ignore"):
            w, t = _wide(w), _wide(t)
            lost = max((norm(_wide(s) - t) for s in single), default=0.0) * 2.0**-29
            accepted |= _at_most(np.abs(w - t), min(AMPLIFICATION * lost, 4 * ULPS * 2.0**-52 * norm(t)))
    return accepted


def noisy(w, t, right: list, left: list, pointwise: bool = False) -> np.ndarray:
    """Rule 7, for double precision: |w - t| <= 2 k n, where n is the noise of the oracle's own answers along a line through the inputs: what high
    differences leave of them, to which a smooth function adds nothing. It shows in the precision of t itself what rounding does inside a computation,
    as to 1 - tanh(x)^2. Where the two sides disagree one has a kink, and less of them counts. Without `pointwise` also by norms.
    Source: More and Wild, "Estimating computational noise" (2011)."""
    with np.errstate(all="ignore"):
        w, t = _wide(w), _wide(t)
        if not right or not left:
            return np.zeros(t.shape, bool)
        sides = _noise([t, *right]), _noise([t, *left])
        most, least = np.maximum(*sides), np.minimum(*sides)
        noise = np.where(most <= _ALIKE * least, most, least)
        bound = 2 * AMPLIFICATION * noise  # of w too
        accepted = _at_most(np.abs(w - t), bound)
        return accepted if pointwise else accepted | _at_most(np.abs(w - t), min(norm(bound), 4 * ULPS * 2.0**-52 * norm(t)))


def _noise(line: list) -> np.ndarray:
    """The noise of numbers that are the values of a smooth function but for it; 0 where differences of three orders do not agree on it, since it is
    another function then, or no number."""
    levels = []
    for order in (6, 8, 10):
        differences = np.diff(np.stack([_wide(x) for x in line]), order, axis=0)
        levels.append(np.abs(differences).max(0) / math.sqrt(math.comb(2 * order, order)))
    most, least = np.max(levels, axis=0), np.min(levels, axis=0)
    return np.where(np.isfinite(most) & (most <= _ALIKE * least), most, 0.0)


def overflown(w, r, dtype: str) -> np.ndarray:
    """Where the number is none of `dtype`, which has infinity for it, or NaN where infinities met on the way."""
    with np.errstate(all="ignore"):
        return ~np.isfinite(_wide(w)) & np.isfinite(_wide(r)) & (np.abs(_wide(r)) > LARGEST.get(dtype, np.inf))


def infinite_parts(w, t, epsilon: float) -> np.ndarray:
    """Where two complex numbers are not finite, of whose parts each is either close or not finite in one of them."""
    found = ~np.isfinite(w) & ~np.isfinite(t)
    for a, b in ((w.real, t.real), (w.imag, t.imag)):
        found &= ~np.isfinite(a) | ~np.isfinite(b) | close(a, b, epsilon)
    return found


def lost(t, runs: list) -> np.ndarray:
    """Where no digit of the oracle's answer `t` means anything, as for the inverse of a singular matrix: an epsilon makes it
    infinite or NaN, or moves it by a tenth of itself where it also moves the norm of all by a tenth."""
    with np.errstate(all="ignore"):
        t, lost_at = _wide(t), np.zeros(np.shape(t), bool)
        for run in map(_wide, runs):
            moved = np.abs(run - t)
            lost_at |= np.isfinite(run) != np.isfinite(t)
            if norm(moved) > 0.1 * max(norm(t), norm(run)):
                lost_at |= moved > 0.1 * np.maximum(np.abs(t), np.abs(run))
        return lost_at


def unknown(t, own: list) -> np.ndarray:
    """Where not even the size of the oracle's answer `t` means anything, `own` being those in its precision for inputs moved by an epsilon: one makes infinity or
    NaN of a number, or a number of them, in either part of a complex one, or every one moves it as far as `lost` says."""
    if not own:
        return np.zeros(np.shape(t), bool)
    if np.iscomplexobj(t):
        return unknown(np.real(t), [np.real(run) for run in own]) | unknown(np.imag(t), [np.imag(run) for run in own])
    return np.logical_or.reduce([np.isfinite(run) != np.isfinite(t) for run in own]) | np.logical_and.reduce([lost(t, [run]) for run in own])


def crossed(r, perturbed: list) -> np.ndarray:
    """Where an epsilon in the inputs takes a finite number to infinity or NaN, as next to a pole: nothing bounds what may come out."""
    return np.logical_or.reduce([np.isfinite(_wide(r)) & ~np.isfinite(_wide(rj)) for rj in perturbed] or [np.zeros(np.shape(r), bool)])


def default_close(w: np.ndarray, t: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """torch.testing.assert_close's rule, for ops that cannot run in double precision."""
    with np.errstate(all="ignore"):
        w, t = _wide(w), _wide(t)
        return same(w, t) | _at_most(np.abs(w - t), atol + rtol * np.abs(t))


def _whole(x: np.ndarray) -> np.ndarray:
    return (x.imag == 0) & (x.real == np.trunc(x.real))


def _at_most(difference: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.isfinite(difference) & (difference <= bound)


def _finite(bound: np.ndarray) -> np.ndarray:
    """`bound` where it bounds anything."""
    return np.where(np.isfinite(bound), bound, 0.0)


def _wide(x) -> np.ndarray:
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def norm(x: np.ndarray) -> float:
    """The largest finite magnitude, 0 if there is none."""
    magnitude = np.abs(x)
    return float(np.max(magnitude, where=np.isfinite(magnitude), initial=0.0))


def describe(w: np.ndarray, t: np.ndarray, wrong: np.ndarray) -> str:
    """How many elements differ, and the worst of them."""
    with np.errstate(all="ignore"):
        wide = np.complex128 if w.dtype.kind == "c" else np.float64
        gap = np.abs(w.astype(wide) - t.astype(wide))
    gap = np.where(wrong, np.where(np.isfinite(gap), gap, np.inf), -1.0)
    at = np.unravel_index(int(np.argmax(gap)), gap.shape)
    place = f" at {[int(i) for i in at]}" if at else ""
    return f"{int(wrong.sum())} of {wrong.size} elements differ, worst{place}: expected {t[at]}, got {w[at]}"
