"""What reruns say of an object's numbers."""

import numpy as np
import pytest
import torch

from weir_autotest.cases.values import Raised, Value
from weir_autotest.check import journals
from weir_autotest.check.properties import Fault
from weir_autotest.check.reference import STEPS
from weir_autotest.workers.journal import Entry, Journal


def journal(*numbers):
    values = np.array(numbers, np.float32)
    return Journal([Entry("gradient", "eval: gradients 0", Value("float32", values.shape, values.tobytes()))])


def test_numbers_of_an_object_may_drift_by_some_roundings():
    assert not journals.faults(journal(1.0, 1e-3), journal(1.0, 1e-3 + 1e-6))
    assert journals.faults(journal(1.0, 1e-3), journal(1.0, 1e-3 + 1e-5))


def test_elements_that_agree_need_no_rerun():
    expected, got, exact = journal(1e-5, 1e-3), journal(0, 1e-3), journal(0, 0)
    fault, = journals.faults(expected, got)
    assert journals.excuses_for(fault, expected, got, [exact]) is not None


def test_an_element_as_wrong_as_none_of_the_oracle_is_not_excused():
    expected, got, exact = journal(1e-7, 0), journal(0, 1e-3), journal(0, 0)
    fault, = journals.faults(expected, got)
    assert journals.excuses_for(fault, expected, got, [exact]) is None


def held(dtype, data, raised=None):
    return Journal([Entry("state", "at the end", Value(dtype, (), data))], raised=raised)


def judged(expected, got, moved):
    """By reruns in double precision that agree with the oracle, and `moved` ones in its own."""
    fault, = journals.faults(expected, got)
    return journals.excuses_for(fault, expected, got, [expected] * (1 + journals.PERTURBATIONS) + moved)


def test_a_count_that_rounding_decides_in_the_oracle_too_is_excused():
    one, two, three = (held("int64", np.int64(n).tobytes()) for n in (1, 2, 3))
    assert judged(one, two, [one, three]) == {"no digits"}
    assert judged(one, two, [one, one]) is None


def test_so_is_what_an_object_holds():
    one, two = held("python str", b"{t: int}"), held("python str", b"{t: Tensor}")
    assert judged(one, two, [two]) == {"no digits"}
    assert judged(one, two, [one]) is None


def test_the_parts_of_a_complex_infinity_are_as_products_are_written():
    nan, infinite, one = (held("complex64", np.complex64(z).tobytes()) for z in (complex(np.nan, np.nan), complex(np.inf, np.inf), 1))
    assert judged(nan, infinite, []) == {"complex infinity"}
    assert judged(nan, one, []) is None


def test_a_number_too_large_in_one_of_them_only_is_for_rounding_to_say():
    number, text = held("python str", b"{}"), Raised(("OverflowError", "ArithmeticError", "Exception"), "int too big to convert")
    large, wrong = held("python str", b"{}", text), held("python str", b"{}", Raised(("TypeError", "Exception"), "no"))
    assert judged(large, number, [large, number]) == {"no digits"}
    assert judged(large, number, [large, large]) is None
    assert not journals.faults(wrong, number)[0].phase


def test_where_the_oracle_has_no_number_it_may_have_one_an_epsilon_away():
    expected, got, exact = journal(np.inf, 1.0), journal(-0.7, 1.0), journal(-0.5, 1.0)
    fault, = journals.faults(expected, got)
    runs = [exact] * (1 + journals.PERTURBATIONS)
    assert journals.excuses_for(fault, expected, got, [*runs, expected]) is None
    assert journals.excuses_for(fault, expected, got, [*runs, journal(-0.7, 1.0)]) is not None


@pytest.mark.parametrize("call, slips", [
    (lambda: torch.masked.mean(torch.ones(3), dtype=int), True),  # its own Python asks `int` for an attribute
    (lambda: torch.nn.functional.max_unpool2d(torch.ones(1, 1, 2, 2), torch.zeros(1, 1, 2, 2, dtype=torch.int64), 3, torch.ones(1)), True),
    (lambda: torch.ones(3, dtype=torch.int64).gt_(torch.ones((), requires_grad=True)).backward(torch.ones(3, dtype=torch.int64)), True),  # asserted of itself
    (lambda: torch.roll(torch.ones(2), -2**63), True),  # its sizes hold no such number
    (lambda: torch.dsplit(torch.ones(3, 3, 3), [1, -2**63]), True),
    (lambda: torch.split(torch.ones(3), np.int64(2)), True),  # taken for a list
    (lambda: torch.nn.LSTM(2, 3)(torch.ones(4, 2), (torch.ones(1, 3), torch.ones(1, 3, dtype=torch.int64))), True),  # a library has no such dtype
    (lambda: torch.split(torch.ones(3), 1.5), False),
    (lambda: torch.nn.GRU(2, 3)(torch.ones(4, 2), torch.ones(1, 3, dtype=torch.int64)), False),
    (lambda: torch.nn.functional.interpolate(torch.ones(1, 1, 2), mode="no"), False),  # raised
    (lambda: torch.masked.mean(torch.ones(3), dim=7), False),  # by compiled code
])
def test_a_slip_of_the_oracle_refuses_nothing(call, slips):
    """An error may then be of any class, and an answer is counted as an excuse; where PyTorch does refuse, both are faults."""
    with pytest.raises(Exception) as caught:
        call()
    expected, other = held("python str", b"{}", Raised.of(caught.value)), held("python str", b"{}", Raised(("OSError", "Exception"), "no"))
    assert (not journals.faults(expected, other)) == slips
    fault, = journals.faults(expected, journal(1.0))
    assert fault.lenient != slips and fault.excuse == ("oracle slips" if slips else "")


def test_rounding_that_no_epsilon_in_the_inputs_shows_shows_along_a_line():
    """Of the slope of a sigmoid near its end, s (1 - s), of whose digits a last bit of s leaves five."""
    def slope(x):
        s = 1 / (1 + np.exp(-x))
        values = s * (1 - s)
        return Journal([Entry("gradient", "eval: gradients 0", Value("float64", values.shape, values.tobytes()))])

    x, bit = np.array([24.0, 32.0]), 2.0**-53
    exact = slope(x)
    line = [slope(x * (1 + side * k * 2.0**-12)) for side in (1, -1) for k in range(1, STEPS + 1)]
    still = [exact] * (2 * journals.PERTURBATIONS + 1)
    for off, excuses in ((bit, frozenset()), (1e3 * bit, None)):
        values = exact.entries[0].value.array() + [off, 0]
        got = Journal([Entry("gradient", "eval: gradients 0", Value("float64", values.shape, values.tobytes()))])
        assert journals.excuses_for(Fault("gradient", "", "gradients", 0), exact, got, still + line) == excuses


def test_numbers_that_an_epsilon_changes_entirely_are_none_and_neither_is_what_comes_of_them():
    t, w, moved, nan = ([held("float32", np.float32(x).tobytes())] for x in (-5e21, -2e23, 8e19, np.nan))
    assert judged(*t, *w, moved * 4) == judged(*t, *w, nan + t * 3) == {"no digits"}
    assert judged(*t, *w, moved * 3 + t) is None  # one of the moved ones agrees
    assert judged(*t, *w, t * 4) is None

    def steps(*numbers):
        return Journal([Entry("value", f"step {i}: parameters 0", Value("float32", (), np.float32(x).tobytes())) for i, x in enumerate(numbers)])

    assert judged(steps(1, 2), steps(1, 3), [steps(9, 2)] * 4) == {"no digits"}
    assert judged(steps(1, 2), steps(1, 3), [steps(1, 2)] * 4) is None


def test_a_number_too_large_on_the_way_is_infinity_or_nan():
    infinite, nan, seven, eight = (held("float16", np.float16(x).tobytes()) for x in (-np.inf, np.nan, 7, 8))
    fault, = journals.faults(infinite, nan)
    runs = [seven] * (1 + journals.PERTURBATIONS) + [infinite] * journals.PERTURBATIONS
    assert journals.excuses_for(fault, infinite, nan, runs) == {"no digits"}
    assert journals.excuses_for(fault, infinite, eight, runs) is None
