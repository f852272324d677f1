"""Products of few rows, and of few columns along a long sum."""
import pytest

import weir


@pytest.mark.parametrize("n, m, p", [(1, 40000, 2), (2, 16384, 2), (4, 20011, 3), (3, 16390, 1), (2, 2, 1000), (3, 16, 257), (4, 5, 64), (1, 3, 4099), (4, 7, 63)])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_few_rows(n, m, p, threads, turned):
    weir.manual_seed(n + m + p)
    a, w, bias = weir.randn(n, m), weir.randn(p, m).t() if turned else weir.randn(m, p), weir.randn(p)
    exact = a.double() @ w.double()
    before = weir.get_num_threads()
    weir.set_num_threads(threads)
    try:
        product, linear = a @ w, weir.nn.functional.linear(a, w.t(), bias)
    finally:
        weir.set_num_threads(before)
    bound = 1e-5 * m ** 0.5
    assert (product - exact).abs().max() < bound
    assert (linear - (exact + bias)).abs().max() < bound


def test_a_long_sum_is_the_same_for_any_number_of_threads():
    a, w, before, found = weir.randn(3, 50000), weir.randn(2, 50000), weir.get_num_threads(), []
    for threads in (1, 2, 3):
        weir.set_num_threads(threads)
        found.append(a @ w.t())
    weir.set_num_threads(before)
    assert all(weir.equal(found[0], other) for other in found)
