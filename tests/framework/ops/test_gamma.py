"""The incomplete gamma functions against PyTorch."""

import numpy as np
import pytest
import torch
import weir
from twins import assert_same

INF = float("inf")


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_as_pytorch(name):
    a = torch.rand(200, generator=torch.manual_seed(0), dtype=torch.float64) * 20 + 0.01
    x = torch.rand(200, generator=torch.manual_seed(1), dtype=torch.float64) * 30
    big = torch.tensor([500.0, 500, 500, 1e-3, 3]), torch.tensor([450.0, 500, 560, 1e-4, 200])
    edges = torch.tensor([0.0, 0, 1, -1, INF, INF, 1, 2, 1]), torch.tensor([0.0, 1, 0, 1, 1, INF, INF, -1, float("nan")])
    call = lambda t, a, x: getattr(t, name)(a, x)  # noqa: E731
    assert_same(call, a, x.requires_grad_(), order=2, rtol=1e-8)
    for pair in (big, edges, (a.float(), x.detach().float()), (a.half(), x.detach().half()), (a.long(), x.detach().long())):
        assert_same(call, *pair, rtol=1e-3 if pair[0].dtype == torch.float16 else 1e-4)
    assert_same(lambda t, a, x: getattr(t.special, {"igamma": "gammainc", "igammac": "gammaincc"}[name])(a, x), a, x.detach())
    assert_same(lambda t, a, x: getattr(a, name + "_")(x), a, x.detach())


def test_the_upper_function_keeps_its_digits_where_the_lower_one_is_nearly_all(a=(1e-12, 2.5e-8, 1e-5, 1e-3, 0.05, 0.3, 0.8)):
    special = pytest.importorskip("scipy.special")
    x = np.array([1e-3, 0.1, 0.4, 0.6, 0.9, 1.0, 1.09, 1.2])
    expected = special.gammaincc(np.array(a)[:, None], x)
    given = weir.igammac(weir.tensor(a, dtype=weir.float64)[:, None], weir.tensor(x))
    np.testing.assert_allclose(given.numpy(), expected, rtol=2e-14)


def test_draws_move_as_the_inverse_of_their_distribution_does():
    """Against differences of SciPy's quantiles, which PyTorch's approximation meets to about 1e-3."""
    from scipy.special import betainc, betaincinv, gammainc, gammaincinv
    a, u = np.meshgrid([0.05, 0.5, 1.0, 3.7, 25.0, 300.0, 1e4, 1.2e5], [0.05, 0.3, 0.5, 0.9, 0.99])
    x = gammaincinv(a, u)
    expected = (gammaincinv(a * (1 + 1e-5), gammainc(a, x)) - gammaincinv(a * (1 - 1e-5), gammainc(a, x))) / (2e-5 * a)
    found = weir._standard_gamma_grad(weir.from_numpy(a), weir.from_numpy(x))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-12)
    a, b, u = (v.ravel() for v in np.meshgrid([0.5, 2.0, 15.0, 200.0], [0.7, 3.0, 40.0], [0.05, 0.3, 0.5, 0.9, 0.99]))
    x = betaincinv(a, b, u)
    moved = (betaincinv(a * (1 + 1e-5), b, betainc(a, b, x)) - betaincinv(a * (1 - 1e-5), b, betainc(a, b, x))) / (2e-5 * a)
    found = weir._dirichlet_grad(*map(weir.from_numpy, (x, a, a + b)))
    np.testing.assert_allclose(found.numpy() * (1 - x), moved, rtol=2e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_draws_move_as_pytorch_says(dtype):
    def gradients(t):
        t.manual_seed(0)
        a, b = (t.tensor([15.0, 2.0, 0.5, 1.0], dtype=getattr(t, dtype), requires_grad=True) for _ in range(2))
        c = t.tensor([[2.0, 3.0, 0.5], [15.0, 1.0, 7.0]], dtype=getattr(t, dtype), requires_grad=True)
        y = t.distributions.Dirichlet(c).rsample()
        (t.distributions.Beta(a, b).rsample().sum() + t.distributions.Gamma(a, b).rsample().sum() + (y * y).sum()).backward()
        return [x.grad.tolist() for x in (a, b, c)]

    for mine, theirs in zip(gradients(weir), gradients(torch)):
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=1e-6)


def test_draws_at_the_ends():
    nan = float("nan")
    moves = weir._standard_gamma_grad(weir.tensor([1.0, -1.0, nan, 1e10, 2.0]), weir.tensor([0.0, 1.0, 1.0, 1e10, float("inf")]))
    assert moves[[0, 3, 4]].tolist() == [0.0, 1.0, float("inf")] and moves[1:3].isnan().all()
    shares = weir._dirichlet_grad(weir.tensor([0.0, 1.0, -0.1, 0.5]), weir.tensor([2.0, 2.0, 2.0, 0.0]), weir.tensor([5.0, 5.0, 5.0, 5.0]))
    assert shares[0] == 0 and shares[1].isfinite() and shares[2:].isnan().all()


def test_they_have_no_second_derivative():
    for t in (weir, torch):
        a = t.tensor([2.0, 3.0], requires_grad=True)
        for draw in (t._standard_gamma, lambda a: t.distributions.Dirichlet(a).rsample()):
            g, = t.autograd.grad(draw(a)[0], a, create_graph=True)
            with pytest.raises((RuntimeError, NotImplementedError)):
                t.autograd.grad(g.sum(), a)


@pytest.mark.parametrize("a, x", [(0.21, 1.26), (0.49, 1.0), (0.31, 1.2), (0.88, 3.0), (14.9, 11.4), (18.4, 21.2), (67.7, 77.0), (958.0, 977.0), (12.0, 1.5)])
def test_both_functions_keep_their_digits(a, x):
    mpmath = pytest.importorskip("mpmath")
    for call, ends in ((weir.igamma, (0, x)), (weir.igammac, (x, mpmath.inf))):
        true = float(mpmath.gammainc(a, *ends, regularized=True))
        assert abs(call(weir.tensor(a, dtype=weir.float64), weir.tensor(x, dtype=weir.float64)).item() / true - 1) < 32 * 2.0**-52


@pytest.mark.parametrize("a, x", [(0.149, 1.058), (0.523, 8.87e-5), (0.988, 0.0169), (39.7, 4.79e-4), (16.0, 7.9), (54.95, 0.00334), (300.0, 100.0)])
def test_digits_are_left_where_the_exponents_are_far_apart(a, x):
    """Of x^a exp(-x) / gamma(a), whose digits a rounding of x moves a times as far."""
    mpmath = pytest.importorskip("mpmath")
    true = mpmath.gammainc(mpmath.mpf(a), 0, mpmath.mpf(x), regularized=True)
    found = weir.igamma(weir.tensor(a, dtype=weir.float64), weir.tensor(x, dtype=weir.float64)).item()
    assert abs(found / true - 1) < (4 + 2 * a) * 2.0**-52


@pytest.mark.parametrize("x", [0.1, 0.2597721959010421, 0.5])
def test_of_a_half_it_is_the_error_function(x):
    found, true = (call(weir.tensor(y, dtype=weir.float64)).item() for call, y in ((lambda x: weir.igammac(weir.full_like(x, 0.5), x), x), (weir.special.erfc, x**0.5)))
    assert abs(found / true - 1) < 4 * 2.0**-52


def test_gradients_beside_bytes():
    for call in ("igamma", "igammac"):
        assert_same(lambda t, a, x: getattr(t, call)(a, x), torch.tensor([0, 2, 0, 3], dtype=torch.uint8), torch.tensor([0.0, 0.0, 1.0, 2.0], requires_grad=True), order=1)
