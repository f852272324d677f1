"""Batches of products of small matrices, by what NumPy gives. Source: framework/kernels/cpu/small_product.h."""

import numpy as np
import pytest
import weir

BATCH = 20_000  # so that no shape is small enough for the plain loops


def numbers(*size, dtype="float32"):
    return np.random.default_rng(size).standard_normal(size).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n, m, p", [(1, 1, 1), (2, 3, 4), (4, 4, 4), (4, 4, 1), (8, 8, 8), (16, 16, 16), (3, 3, 1), (9, 8, 7), (1, 5, 9), (16, 3, 2), (3, 2, 16), (5, 7, 16), (40, 3, 2), (2, 3, 40)])
def test_products_of_all_orders_of_size(dtype, n, m, p):
    a, w = numbers(BATCH, n, m, dtype=dtype), numbers(BATCH, m, p, dtype=dtype)
    got = (weir.from_numpy(a) @ weir.from_numpy(w)).numpy()
    np.testing.assert_allclose(got, a.astype(float) @ w.astype(float), atol=1e-5 if dtype == "float32" else 1e-13)


def test_factors_of_any_strides_and_a_shared_one():
    a, w = numbers(4, BATCH, 3), numbers(5, 3)
    x, y = weir.from_numpy(a), weir.from_numpy(w)
    expected = a.astype(float).transpose(1, 0, 2) @ w.astype(float).T
    np.testing.assert_allclose((x.transpose(0, 1) @ y.t()).numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(weir.bmm(x.transpose(0, 1), y.t().expand(BATCH, 3, 5)).numpy(), expected, atol=1e-5)


@pytest.mark.parametrize("m", range(1, 10))
def test_short_rows_times_a_vector(m):
    rows, x = numbers(BATCH, m), numbers(m)
    np.testing.assert_allclose((weir.from_numpy(rows) @ weir.from_numpy(x)).numpy(), rows.astype(float) @ x.astype(float), atol=1e-5)
    np.testing.assert_allclose((weir.from_numpy(rows).t().contiguous().t() @ weir.from_numpy(x)).numpy(), rows.astype(float) @ x.astype(float), atol=1e-5)
