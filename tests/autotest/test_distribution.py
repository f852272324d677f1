"""Random numbers: any generator may draw them, but from the right distribution."""

import os

import numpy as np
import pytest

from weir_autotest.campaign.run import run
from weir_autotest.campaign.tasks import Settings
from weir_autotest.check.distribution import difference

ROWS = 2000

#: PyTorch whose random numbers are subtly wrong; each call with one seed still repeats itself.
FAULTY = '''
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "_NoTorch"]
import torch as _torch
from torch import *
from torch import Tensor, autograd, no_grad, nn, special, linalg, fft, strided
__version__ = "faulty"


def randperm(n, **keywords):
    return _torch.randperm(n, **keywords).sort().values


def bernoulli(x, **keywords):
    return (_torch.rand_like(x) < x * 0.8).to(x.dtype)
'''


def table(draw, seed):
    return draw(np.random.default_rng(seed))


@pytest.mark.parametrize("draw", [
    lambda rng: rng.random((ROWS, 3)), lambda rng: rng.standard_normal((ROWS, 3)),
    lambda rng: rng.standard_cauchy((ROWS, 3)), lambda rng: rng.integers(0, 2, (ROWS, 3)),
    lambda rng: rng.geometric(0.3, (ROWS, 3)), lambda rng: np.full((ROWS, 3), np.nan),
    lambda rng: np.where(rng.random((ROWS, 3)) < 0.5, 0.0, np.inf), lambda rng: rng.integers(-2**62, 2**62, (ROWS, 3)),
])
def test_one_distribution_differs_from_itself_never(draw):
    assert all(difference(table(draw, seed), table(draw, seed + 1000)) is None for seed in range(20))


@pytest.mark.parametrize("right, wrong", [
    (lambda rng: rng.random((ROWS, 2)), lambda rng: rng.random((ROWS, 2)) ** 1.3),
    (lambda rng: rng.random((ROWS, 2)), lambda rng: rng.random((ROWS, 2)) * 1.1),
    (lambda rng: rng.standard_normal((ROWS, 2)), lambda rng: rng.standard_normal((ROWS, 2)) * 2),
    (lambda rng: rng.integers(0, 5, (ROWS, 2)), lambda rng: rng.integers(0, 4, (ROWS, 2))),
    (lambda rng: rng.random((ROWS, 2)) < 0.5, lambda rng: rng.random((ROWS, 2)) < 0.6),
    (lambda rng: rng.random((ROWS, 2)), lambda rng: np.where(rng.random((ROWS, 2)) < 0.05, np.nan, 0.5)),
])
def test_a_wrong_distribution_is_noticed(right, wrong):
    assert difference(np.float64(table(right, 1)), np.float64(table(wrong, 2)))


def test_rounding_sets_no_categories_apart():
    column = np.random.default_rng(0).choice([-1.0, 0.0, 0.3, np.inf], (ROWS, 1))
    assert difference(column, column * (1 + 1e-15)) is None
    assert difference(column, np.where(column == 0.3, 0.3001, column)) is not None


def test_rounding_is_that_of_the_largest_number_and_of_the_dtype():
    column = np.random.default_rng(0).choice([-1.0, 0.0, 1e-9, 0.3], (ROWS, 1))
    assert difference(column, np.where(column == 1e-9, -1e-8, column)) is None  # what is left where larger terms cancel
    assert difference(column, np.where(column == 0.3, 0.3001, column), epsilon=2.0**-10) is None
    assert difference(column, np.where(column == 0.3, 0.31, column), epsilon=2.0**-10) is not None


def test_numbers_beyond_a_hard_end_are_noticed():
    wrong = table(lambda rng: rng.random((ROWS, 1)), 2)
    wrong[0] = 1.2
    assert "expected in" in difference(table(lambda rng: rng.random((ROWS, 1)), 1), wrong)


def test_an_end_that_many_draws_share_may_be_another_rounding_of_it():
    def sums(seed, last):  # of which more than a few differ, and one in thirty is the largest
        return table(lambda rng: np.where(rng.random((ROWS, 1)) < 1 / 30, last, rng.integers(0, 400, (ROWS, 1)) / 100), seed)

    assert difference(sums(1, 7.0), sums(2, 7.0 * (1 + 2.0**-23)), epsilon=2.0**-23) is None
    assert difference(sums(1, 7.0), sums(2, 7.01), epsilon=2.0**-23) is not None


def test_wrong_random_operations_fail_and_right_ones_pass(tmp_path):
    (tmp_path / "faultydraws.py").write_text(FAULTY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        finished = run(Settings("faultydraws", ("float32",), ("randperm", "bernoulli", "rand"), cases=20))
    states = {score.overload: score.states()["random"] for score in finished.scores}
    assert states["randperm"] == "FAIL" and states["bernoulli"] == "FAIL"
    assert states["rand"] == "PASS"


def test_pytorch_agrees_with_itself():
    ops = ("uniform_", "exponential_", "feature_dropout", "multinomial", "randperm", "poisson")
    finished = run(Settings("torch", ("float32",), ops, cases=20))
    assert [failure for score in finished.scores for failure in score.failures] == []
    assert all(score.states()["random"] == "PASS" for score in finished.scores)
