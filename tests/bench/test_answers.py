"""Answers are compared before anything is timed."""

import numpy as np
import pytest
from weir_bench.answers import value_error


@pytest.mark.parametrize("want, got, dtype, fits", [
    ([1.0, 2.0], [1.0, 2.00001], "float32", True),
    ([1.0, 2.0], [1.0, 2.01], "float32", False),
    ([1.0, 2.0], [1.0, 2.01], "bfloat16", True),
    ([1, 2], [1, 3], "int64", False),
    ([np.nan, 1.0], [np.nan, 1.0], "float32", True),
    ([np.nan, 1.0], [1.0, np.nan], "float32", False),
    ([np.inf, 1.0], [-np.inf, 1.0], "float32", False),
    ([1e6, 1e-9], [1e6, 0.0], "float32", True),
    ([], [], "float32", True),
])
def test_value_error(want, got, dtype, fits):
    assert (value_error(np.array(want), np.array(got), dtype) is None) == fits
