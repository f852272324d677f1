"""The statistics on made-up data whose truth is known."""

import numpy as np
import pytest
from weir_bench.stats import Interval, geometric_mean, two_level, verdict_of


def launches(rng, effect=0.0, between=0.05, within=0.02, count=10, rounds=4):
    """Log ratios as lockstep sessions give them: each launch has its own offset."""
    return [effect + rng.normal(0, between) + rng.normal(0, within, rounds) for _ in range(count)]


def test_interval_covers_a_known_effect():
    found = two_level(launches(np.random.default_rng(1), effect=np.log(1.3))).exp()
    assert found.low < 1.3 < found.high and found.high - found.low < 0.15


def test_false_alarms_stay_near_their_nominal_rate():
    rng = np.random.default_rng(2)
    trials = 300
    alarms = sum(not (i.low < 0 < i.high) for i in (two_level(launches(rng), seed=k, draws=400)
                                                    for k in range(trials)))
    assert alarms / trials < 0.09, "nominal 5%, widened for 300 trials"


def test_resampling_rounds_alone_would_raise_false_alarms():
    rng = np.random.default_rng(2)
    pooled = [[[x] for x in np.concatenate(launches(rng))] for _ in range(300)]
    alarms = sum(not (i.low < 0 < i.high) for i in (two_level(p, draws=400) for p in pooled))
    assert alarms / 300 > 0.15, "this is why launches are resampled first"


def test_same_seed_same_interval():
    data = launches(np.random.default_rng(3))
    assert two_level(data, seed=5) == two_level(data, seed=5)


def test_geometric_mean_of_cases():
    rng = np.random.default_rng(4)
    found = geometric_mean([launches(rng, np.log(2)), launches(rng, np.log(8))]).exp()
    assert found.value == pytest.approx(4, rel=0.05) and found.low < 4 < found.high


@pytest.mark.parametrize("low, high, verdict", [
    (1.1, 1.3, "faster"), (0.7, 0.9, "slower"), (0.98, 1.02, "same"), (0.9, 1.2, "unclear"), (None, None,
                                                                                             "inconclusive")])
def test_verdicts(low, high, verdict):
    assert verdict_of(Interval(1.0, low, high)) == verdict
