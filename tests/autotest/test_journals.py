"""What reruns say of an object's numbers."""

import numpy as np

from weir_autotest.cases.values import Value
from weir_autotest.check import journals
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
