"""Whether two tables of random numbers may come from one distribution.

Columns are compared one by one: by a chi-square test where the numbers are few, by a two-sample Kolmogorov-Smirnov test
else, and by their support where that has hard ends. The level is so low that a run of thousands of tests raises no
false alarm, and 2,000 rows still tell distributions that are apart by a tenth anywhere.
"""

import numpy as np

LEVEL = 1e-7  # a test of the same distribution fails this often
_FEW = 50  # distinct numbers up to which a column is discrete
_ROUNDING = 1e-6  # of the largest number: less sets no two categories apart
_ROUNDINGS = 4.0  # or so many of the numbers' own roundings
_RARE = 10  # occurrences in both tables below which categories are pooled
_CROWD = 20  # numbers at an end of the support
_HARD = 0.05  # of the way from the median: an end where the crowd takes less is hard


def difference(expected: np.ndarray, got: np.ndarray, epsilon: float = 0.0) -> str | None:
    """What tells the distributions apart of numbers that were computed with a rounding of `epsilon`; None if nothing does."""
    if expected.shape != got.shape:
        return f"draws have {got.shape[1] - 1} places, expected {expected.shape[1] - 1}"
    summed = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected)).max(initial=0.0)
    for column, (e, g) in enumerate(zip(_finite(expected).T, _finite(got).T)):
        where = "the mean" if column == expected.shape[1] - 1 else f"place {column}"
        found = _column(e, g, max(_ROUNDING, _ROUNDINGS * epsilon) * summed)
        if found:
            return f"{where} of {len(g)} draws: {found}"
    return None


def _column(e: np.ndarray, g: np.ndarray, rounding: float) -> str | None:
    if len(np.unique(np.concatenate([e, g]))) <= _FEW:
        level = chi_square(e, g, rounding)
        return f"chi-square test at {level:.1e}" if level < LEVEL else None
    level = kolmogorov_smirnov(e, g)
    if level < LEVEL:
        return f"Kolmogorov-Smirnov test at {level:.1e}: median {np.median(g):.4g}, expected {np.median(e):.4g}"
    if beyond(e, g, rounding) or beyond(-e, -g, rounding):
        return f"numbers in [{g.min():.6g}, {g.max():.6g}], expected in [{e.min():.6g}, {e.max():.6g}]"
    return None


def kolmogorov_smirnov(e: np.ndarray, g: np.ndarray) -> float:
    """The level at which the two samples differ; conservative where numbers repeat."""
    from scipy.special import kolmogorov
    places = np.concatenate([e, g])
    gap = np.searchsorted(np.sort(e), places, "right") / len(e) - np.searchsorted(np.sort(g), places, "right") / len(g)
    return float(kolmogorov(np.abs(gap).max() * np.sqrt(len(e) * len(g) / (len(e) + len(g)))))


def chi_square(e: np.ndarray, g: np.ndarray, rounding: float = 0.0) -> float:
    """The level at which the frequencies of the two samples differ. Numbers within a `rounding` of their neighbour are one category."""
    from scipy.special import chdtrc
    kinds, which = np.unique(np.concatenate([e, g]), return_inverse=True)
    which = np.concatenate([[0], np.cumsum(np.diff(kinds) > rounding)]).astype(int)[which]
    counts = np.stack([np.bincount(part, minlength=which.max() + 1) for part in (which[:len(e)], which[len(e):])])
    rare = counts.sum(0) < _RARE
    counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(1)])
    counts = counts[:, counts.sum(0) > 0]
    if counts.shape[1] < 2:
        return 1.0
    wanted = counts.sum(1, keepdims=True) * counts.sum(0) / counts.sum()
    return float(chdtrc(counts.shape[1] - 1, ((counts - wanted) ** 2 / wanted).sum()))


def beyond(e: np.ndarray, g: np.ndarray, rounding: float = 0.0) -> bool:
    """Whether `g` goes beyond the upper end of `e` by more than a `rounding`, and that end is hard: numbers crowd there, as in [0, 1)."""
    ordered = np.sort(e)
    crowd = ordered[-1] - ordered[-_CROWD]
    return bool(crowd < _HARD * (ordered[-1] - np.median(e)) and g.max() > ordered[-1] + max(5 * crowd, rounding))


def _finite(table: np.ndarray) -> np.ndarray:
    """Numbers in place of NaN and the infinities, far from all others."""
    return np.nan_to_num(table, nan=4e307, posinf=3e307, neginf=-3e307)
