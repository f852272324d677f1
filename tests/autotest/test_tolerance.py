"""The tolerance rules, each with what it must accept and what it must reject."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from weir_autotest.check import tolerance

EPS = 2.0**-23
floats = hnp.arrays(np.float32, st.integers(0, 8), elements=st.floats(width=32, allow_nan=True, allow_infinity=True))
finite = hnp.arrays(np.float32, st.integers(1, 8), elements=st.floats(-1e6, 1e6, width=32))


def f32(*values):
    return np.array(values, dtype=np.float32)


@given(floats)
def test_a_result_is_close_to_itself(t):
    assert tolerance.close(t, t.copy(), EPS).all()


@given(finite)
def test_one_rounding_is_close(t):
    w = np.nextafter(t, np.float32(np.inf), dtype=np.float32)
    assert tolerance.close(w, t, EPS)[np.abs(t) > 1e-30].all()


@given(finite, st.floats(64, 1e6))
def test_many_roundings_are_not_close(t, ulps):
    w = (t.astype(np.float64) * (1 + ulps * EPS)).astype(np.float32)
    assert not tolerance.close(w, t, EPS)[np.abs(t) > 1e-20].any()


@given(finite)
def test_exact_perturbed_runs_give_no_slack(r):
    w = (r.astype(np.float64) * (1 + 64 * EPS)).astype(np.float32)
    rejected = ~tolerance.conditioned(w, r, r.astype(np.float64), [r.astype(np.float64)] * 4, EPS)
    assert rejected[np.abs(r) > 1e-20].all()


@given(finite, st.floats(0.001, 0.999))
def test_slack_follows_the_conditioning(r, move):
    wide = r.astype(np.float64)
    assert tolerance.conditioned(wide + 3.9 * move, r, wide, [wide + move], EPS).all()
    assert not tolerance.conditioned(wide + 4.1 * move + 1e4, r, wide, [wide + move], EPS).any()


def test_jump_is_accepted_where_a_perturbed_run_jumps():
    t, r, jumped = f32(1.0), np.array([1.0]), np.array([2.0])
    assert tolerance.conditioned(f32(2.0), t, r, [r, jumped], EPS).all()
    assert not tolerance.conditioned(f32(9.0), t, r, [r, jumped], EPS).any()


def test_between_whole_numbers_there_is_no_slack():
    t, r, jumped = f32(3.0), np.array([3.0]), np.array([2.0])  # floor of 3, and of a little less
    assert tolerance.conditioned(f32(2.0), t, r, [jumped], EPS).all()
    assert not tolerance.conditioned(f32(5.0), t, r, [jumped], EPS).any()


def test_element_by_element_a_large_one_excuses_no_small_one():
    t, r = f32(1.0, 3e-8), np.array([1.0, 1e-9])
    assert tolerance.conditioned(f32(1.0, 9e-8), t, r, [], EPS).all()
    assert not tolerance.conditioned(f32(1.0, 2e-7), t, r, [], EPS, pointwise=True).all()


def test_the_oracles_own_error_is_shared_up_to_a_few_roundings_of_the_norm():
    r = np.array([1.0, 1e-9])
    t = f32(1.0, 3e-8)  # the oracle lost the small element beside the large one
    assert tolerance.conditioned(f32(1.0, 9e-8), t, r, [], EPS).all()
    assert not tolerance.conditioned(f32(1.0, 1e-5), t, r, [], EPS).all()


def test_factories_get_slack_of_the_norm():
    r = np.array([1.0, 0.0])
    w = f32(1.0, 10 * EPS)
    assert tolerance.conditioned(w, r, r, [], EPS, factory=True).all()
    assert not tolerance.conditioned(w, r, r, [], EPS).all()


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_non_finite_is_never_within_a_bound(wrong):
    r = np.array([1.0])
    assert not tolerance.close(f32(wrong), f32(1.0), EPS).any()
    assert not tolerance.conditioned(f32(wrong), f32(1.0), r, [np.array([np.inf])] if wrong != np.inf else [r], EPS).any()


def test_integers_are_exact():
    assert tolerance.close(np.array([1, 2]), np.array([1, 3]), EPS).tolist() == [True, False]


def test_complex_error_is_measured_by_magnitude():
    t = np.array([1e6 + 0j], dtype=np.complex64)
    assert tolerance.close(t + np.complex64(1e-3j), t, EPS).all()
    assert not tolerance.close(t + np.complex64(10j), t, EPS).any()


def test_default_tolerance_adds_absolute_and_relative():
    assert tolerance.default_close(f32(1.1), f32(1.0), 0.05, 0.06).all()
    assert not tolerance.default_close(f32(1.2), f32(1.0), 0.05, 0.06).any()


def test_digits_are_lost_where_an_epsilon_moves_the_answer_by_its_size():
    lost = tolerance.lost(np.array([1e8, 1.0, 1.0, np.inf]), [np.array([-3e7, 1.0, 2.0, np.inf])])
    assert lost.tolist() == [True, False, True, False]
    assert tolerance.lost(np.array([1.0]), [np.array([np.inf])]).all()
    assert not tolerance.lost(np.array([1.0, 1e-9]), [np.array([1.0, 2e-9])]).any()


def test_double_precision_may_lose_as_many_epsilons_as_single_does():
    t, single = np.array([1.0, 1.0]), np.array([1.0 + 100 * EPS, 1.0])
    near = t + 100 * 2.0**-52
    assert tolerance.as_in_single(near, t, [single]).tolist() == [True, False]
    assert not tolerance.as_in_single(t + 1e-9, t, [single]).any()


def test_a_jump_that_no_rounding_crossed_is_no_slack():
    """floor(3.) is 3 in both precisions, and moved inputs, which give 2, excuse nothing; a quotient that double precision rounds
    otherwise is uncertain."""
    t, r, moved = np.float32([3, 3]), np.array([3.0, 2.0]), [np.array([2.0, 3.0]), np.array([3.0, 2.0])]
    assert tolerance.certain(t, r, moved).tolist() == [True, False]
    assert not tolerance.certain(np.float32([1.5]), np.array([1.5]), [np.array([1.5000001])]).any()


def test_nan_is_no_overflow_where_double_precision_has_an_infinity():
    assert tolerance.overflown(np.float32([np.nan, np.nan]), np.array([np.inf, 1e300]), "float32").tolist() == [False, True]


def test_an_infinity_of_the_oracle_is_no_bound():
    """float16 of -9e18 is -inf, which double precision has not; that is no reason to take -100."""
    t, r = np.float16([-np.inf]), np.array([-9.2e18])
    assert not tolerance.conditioned(np.float16([-100]), t, r, [], 2.0**-10).any()
    assert tolerance.crossed(np.array([1e7, 2.0]), [np.array([np.inf, 2.0])]).tolist() == [True, False]


def test_a_single_precision_error_that_is_small_by_chance_bounds_no_neighbour():
    t = np.array([1.0, 1e-3])
    single = [np.array([1.0 + 6e-8, 1e-3])]  # the second one has no error, by chance
    w = t + np.array([0, 2e-16])
    assert tolerance.as_in_single(w, t, single).all()
    assert not tolerance.as_in_single(w, t, single, pointwise=True).all()
    assert not tolerance.as_in_single(t + 1e-14, t, single).any()


def test_no_number_at_all_is_the_largest_error_of_the_oracle():
    t, r = f32(np.nan, np.nan), np.array([1.0, 1e-9])
    assert tolerance.conditioned(f32(1.0, 9e-8), t, r, [], EPS).all()
    assert not tolerance.conditioned(f32(1.0, 1e-5), t, r, [], EPS).all()


def _line(function, at: float) -> tuple:
    """A function's values at a point, and evenly spaced to its right and to its left."""
    sides = ([np.array([function(at * (1 + way * k * 2.0**-12))]) for k in range(1, 16)] for way in (1, -1))
    return np.array([function(at)]), *sides


def test_what_rounding_does_shows_along_a_line():
    """1 - tanh(x)^2 has some four digits of 1 / cosh(x)^2 here, which inputs an epsilon apart do not show: they round alike."""
    t, right, left = _line(lambda x: 1 - np.tanh(x) ** 2, 13.0)
    true = 1 / np.cosh(13.0) ** 2
    assert abs(t[0] - true) > 1e-6 * true
    assert tolerance.noisy(np.array([true]), t, right, left, pointwise=True).all()
    assert not tolerance.noisy(np.array([true * 1.01]), t, right, left, pointwise=True).any()


@pytest.mark.parametrize("function, at", [(np.exp, 5.0), (np.sin, 20.0), (lambda x: abs(x - 3.0005), 3.0), (lambda x: np.floor(x), 2.9999)])
def test_what_is_smooth_has_no_noise_and_a_kink_or_a_jump_to_one_side_is_none(function, at):
    t, right, left = _line(function, at)
    assert not tolerance.noisy(t * (1 + 1e-13), t, right, left, pointwise=True).any()


def test_a_step_among_the_denormals_of_the_dtype_is_a_rounding():
    """1e-87 has no float32 but 0, where the oracle's own answer is NaN."""
    t, r = np.complex64([complex(np.nan, np.nan)]), np.array([1e-87 + 0j])
    assert tolerance.conditioned(np.complex64([0]), t, r, [], EPS, pointwise=True, dtype="complex64").all()
    assert not tolerance.conditioned(np.complex64([3e-45]), t, r, [], EPS, pointwise=True, dtype="complex64").any()
    assert not tolerance.conditioned(np.complex64([0]), t, r + 1e-40, [], EPS, pointwise=True, dtype="complex64").any()


def test_parts_that_are_no_number_in_one_of_two_are_infinite():
    w, t = np.array([complex(np.inf, 1), complex(np.inf, 1), 2 + 1j]), np.array([complex(np.nan, 1), complex(np.nan, 2), complex(np.nan, 1)])
    assert tolerance.infinite_parts(w, t, EPS).tolist() == [True, False, False]


def test_errors_of_the_oracle_that_its_reruns_show_too_are_shared_by_norms():
    r, t = np.array([1.0, 2.0]), np.array([1.0, 2.001])
    w, far = np.array([1.002, 2.0]), np.array([1.005, 2.0])
    noise, steady = [np.array([1.0, 2.002])], [np.array([1.0, 2.001])]
    assert tolerance.as_uncertain(w, t, r, noise).all() and not tolerance.as_uncertain(far, t, r, noise)[0]
    assert not tolerance.as_uncertain(w, t, r, steady)[0] and not tolerance.as_uncertain(w, r, r, noise)[0] and not tolerance.as_uncertain(w, t, r, [])[0]
