"""Draws from distributions given by tensors: shapes, dtypes, refusals and numbers are PyTorch's."""

import pytest
import torch
import weir
from twins import assert_same


def test_refusals_and_certain_draws():
    for n, p in (([3.0, -1], [1.0, 1]), ([3.5, 2], [1.0, 0]), ([3.0, 2], [1.5, -0.5])):
        assert_same(lambda t, n, p: t.binomial(n, p), torch.tensor(n), torch.tensor(p))
    n = torch.tensor([3.0, 2])
    for p in (torch.tensor([1, 0]), torch.tensor([1.0, 0]).double(), torch.ones(3), torch.ones(2, 1), torch.tensor(0.0)):
        assert_same(lambda t, n, p: t.binomial(n, p), n, p)
        assert_same(lambda t, n, p: t.binomial(p, n), n, p)
    for rate in (torch.tensor([0.0, 0]), torch.tensor([-1.0]), torch.tensor([1])):
        assert_same(lambda t, r: t.poisson(r), rate)


def test_means():
    weir.manual_seed(0)
    assert abs(weir.binomial(weir.full((20000,), 40.0), weir.tensor(0.3)).mean().item() - 12) < 0.1
    assert abs(weir.poisson(weir.full((20000,), 7.5)).mean().item() - 7.5) < 0.1


def test_a_seed_repeats():
    g = weir.Generator().manual_seed(3)
    first = weir.poisson(weir.ones(50) * 4, generator=g)
    assert weir.equal(first, weir.poisson(weir.ones(50) * 4, generator=g.manual_seed(3)))


def test_binomial_has_no_derivative():
    r = weir.binomial(weir.ones(2), weir.ones(2, requires_grad=True))
    assert r.requires_grad


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("samples, replacement", [(1, False), (1, True), (3, False), (40, True)])
def test_multinomial_draws_the_same_numbers(dtype, samples, replacement):
    def draw(t, p):
        t.manual_seed(5)
        return t.multinomial(p, samples, replacement), t.multinomial(p[0], samples, replacement), t.rand(2)
    assert_same(draw, torch.rand(6, 50, generator=torch.manual_seed(1)).to(getattr(torch, dtype)), strides=False)


@pytest.mark.parametrize("values", [[-1.0, 2.0], [float("nan"), 1.0], [float("inf"), 1.0], [0.0, 0.0], [1.0, 0.0]])
@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial_refuses_what_pytorch_refuses(values, replacement):
    assert_same(lambda t, p: t.multinomial(p, 2 if replacement else 1, replacement), torch.tensor(values))


def test_a_seed_gives_pytorchs_numbers():
    rates, n, p = torch.tensor([0.0, 0.3, 2.0, 9.9, 10.0, 40.0, 1e5] * 3), torch.tensor([5.0, 50, 1000, 3, 7.5, 1e6] * 4), torch.tensor(
        [0.3, 0.9, 0.4, 1.0, 0.5, 0.001] * 4)
    a = torch.tensor([0.0, 0.1, 0.5, 1.0, 3.0, 50.0] * 20)

    def seeded(t, call):
        t.manual_seed(7)
        return call(t)

    for draw in (lambda t, r, n, p, a: t.poisson(r), lambda t, r, n, p, a: t.binomial(n, p), lambda t, r, n, p, a: t.poisson(r.double()),
                 lambda t, r, n, p, a: t.distributions.Gamma(a[1:6], t.ones(5)).sample((50,)), lambda t, r, n, p, a: t._standard_gamma(a),
                 lambda t, r, n, p, a: t._standard_gamma(a.double()), lambda t, r, n, p, a: t._sample_dirichlet(a[1:].expand(3, 119)),
                 lambda t, r, n, p, a: t._sample_dirichlet(a[1:6], generator=t.Generator().manual_seed(3))):
        assert_same(lambda t, *x, d=draw: seeded(t, lambda t: d(t, *x)), rates, n, p, a, rtol=0, atol=0)


@pytest.mark.parametrize("sizes", [(3,), (2, 0), (1, 4, 5, 1)])
def test_draws_into_nothing_do_not_look_at_the_probabilities(sizes):
    for t in (torch, weir):
        p, x = t.full(sizes, 2.0, requires_grad=True), t.ones(2, 0)
        assert x.bernoulli_(p) is x and x._version == 1 and x.requires_grad
        assert t.autograd.grad(x.sum(), p)[0].tolist() == t.zeros(sizes).tolist()
        assert t.multinomial(t.ones(0, 0), 2, True).shape == (0, 2)
