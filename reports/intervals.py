"""Estimates with 95% intervals, computed from logarithms of ratios."""

from dataclasses import dataclass

import numpy as np
from scipy import special  # not scipy.stats, whose import takes most of a command's start

DRAWS = 4000  # bootstrap resamples; the Monte Carlo error of a 95% bound is then below a tenth of its width
LEVEL = 0.95
FEW = 8  # below this many blocks a percentile bootstrap is too narrow, and Student's t is used instead


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95% bounds. Bounds are None where the data cannot give them (one launch, one block)."""

    value: float
    low: float | None = None
    high: float | None = None

    def exp(self) -> "Interval":
        """Returns the interval of the ratio whose logarithm this is."""
        return Interval(*(None if x is None else float(np.exp(x)) for x in (self.value, self.low, self.high)))


def two_level(launches, seed: int = 0, draws: int = DRAWS) -> Interval:
    """Returns the median log ratio of a case with its bootstrap interval: launches first, then their rounds.

    `launches`: one sequence of per-round log ratios for each launch, none empty; lengths may differ where rounds
    were voided. Rounds of one launch share its memory layout and start-up, so resampling rounds alone would give
    intervals that are far too narrow. Fewer than 2 launches give no bounds. Raises ValueError without launches.
    """
    if not launches:
        raise ValueError("two_level: expected at least one launch, got none")
    value = float(np.median(np.concatenate([np.asarray(x, float) for x in launches])))
    if len(launches) < 2:
        return Interval(value)
    return Interval(value, *_bounds(resample(launches, np.random.default_rng(seed), draws)))


def resample(launches, rng: np.random.Generator, draws: int = DRAWS, picks=None) -> np.ndarray:
    """Returns `draws` two-level bootstrap medians, shape (draws,).

    `picks`, uniform numbers in [0, 1) of shape (draws, number of launches), choose the launches; cases that were
    measured in the same launches share one `picks`, which keeps their common drift in the joint interval.
    """
    lengths = np.array([len(x) for x in launches])
    width = lengths.max()
    table = np.zeros((len(launches), width))
    for row, values in zip(table, launches):
        row[: len(values)] = values
    if picks is None:
        picks = rng.random((draws, len(launches)))
    chosen = (picks * len(launches)).astype(int)[:, :, None]
    rounds = (rng.random((*chosen.shape[:2], width)) * lengths[chosen]).astype(int)
    return np.median(table[chosen, rounds].reshape(len(chosen), -1), axis=1)


def geometric_mean(cases, seed: int = 0, draws: int = DRAWS) -> Interval:
    """Returns the mean over cases of their median log ratios, with a joint interval. `cases`: as in `two_level`."""
    if not cases:
        raise ValueError("geometric_mean: expected at least one case, got none")
    rng = np.random.default_rng(seed)
    value = float(np.mean([two_level(launches, draws=1).value for launches in cases]))
    if min(map(len, cases)) < 2:
        return Interval(value)
    picks = rng.random((draws, max(map(len, cases))))
    drawn = [resample(launches, rng, draws, picks[:, : len(launches)]) for launches in cases]
    return Interval(value, *_bounds(np.mean(drawn, axis=0)))


def of_mean(logs, seed: int = 0, draws: int = DRAWS) -> Interval:
    """Returns the mean of one log value per block with its interval: Student's t below `FEW` blocks, else bootstrap.

    One block gives no bounds. Raises ValueError for no blocks.
    """
    logs = np.asarray(logs, float)
    if logs.size == 0:
        raise ValueError("of_mean: expected at least one block, got none")
    mean = float(logs.mean())
    if logs.size == 1:
        return Interval(mean)
    if logs.size < FEW:
        half = float(special.stdtrit(logs.size - 1, (1 + LEVEL) / 2) * logs.std(ddof=1) / np.sqrt(logs.size))
        return Interval(mean, mean - half, mean + half)
    picks = np.random.default_rng(seed).integers(logs.size, size=(draws, logs.size))
    return Interval(mean, *_bounds(logs[picks].mean(axis=1)))


def _bounds(drawn: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
