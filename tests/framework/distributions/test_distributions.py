"""Distributions against PyTorch's: densities, moments, entropies, divergences and gradients at the same parameters."""

import itertools
import math

import pytest
import torch
import torch.distributions as td
import twins
import weir
import weir.distributions as wd

torch.manual_seed(0)
P = torch.tensor([0.3, 1.2, 2.5])
Q = torch.tensor([0.7, 2.1, 1.4])
L = torch.tensor([-1.0, 0.2, 1.5])
S = torch.tensor([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])
PROBS = torch.tensor([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
HALF = torch.tensor([0.2, 0.5, 0.9])

#: name -> parameters of two distributions of the kind
CASES = {
    "Normal": [(L, P), (L + 0.3, Q)], "Laplace": [(L, P), (L + 0.3, Q)], "Cauchy": [(L, P), (L + 0.3, Q)],
    "Gumbel": [(L, P), (L + 0.3, Q)], "LogNormal": [(L, P), (L + 0.3, Q)], "Uniform": [(L, L + P), (L - 1, L + P + 1), (HALF / 2, HALF), (HALF * 0, HALF * 0 + 1)],
    "Exponential": [(P,), (Q,)], "Gamma": [(P, Q), (Q, P)], "Chi2": [(P,), (Q,)], "Beta": [(P, Q), (Q, P)],
    "StudentT": [(P + 2, L, Q)], "FisherSnedecor": [(P + 4, Q + 5)], "Dirichlet": [(P,), (Q,)], "HalfNormal": [(P,), (Q,)],
    "HalfCauchy": [(P,)], "Weibull": [(P, Q)], "Pareto": [(P, Q + 2), (P, P + 2)], "Kumaraswamy": [(P + 1, Q + 1)],
    "InverseGamma": [(P + 2, Q)], "VonMises": [(L, P)], "Bernoulli": [(HALF,), (HALF.flip(0),)],
    "ContinuousBernoulli": [(HALF,), (HALF.flip(0),)], "Geometric": [(HALF,), (HALF.flip(0),)],
    "Binomial": [(5, HALF), (5, HALF.flip(0))], "NegativeBinomial": [(5, HALF)], "Poisson": [(P,), (Q,)],
    "Categorical": [(PROBS,), (PROBS.flip(0),)], "OneHotCategorical": [(PROBS,), (PROBS.flip(0),)],
    "Multinomial": [(4, PROBS)], "MultivariateNormal": [(L, S), (L + 1, S + torch.eye(3))],
    "LowRankMultivariateNormal": [(L, S[:, :2], P), (L + 1, S[:, 1:], Q)], "Wishart": [(torch.tensor(4.0), S), (torch.tensor(5.0), S + torch.eye(3))],
    "LKJCholesky": [(3, torch.tensor(1.5))], "LogisticNormal": [(L, P)], "RelaxedBernoulli": [(torch.tensor(0.7), HALF)],
    "RelaxedOneHotCategorical": [(torch.tensor(0.7), PROBS)], "GeneralizedPareto": [(L, P, torch.tensor([0.1, 0.2, 0.3]))],
}



def _pair(name, parameters):
    return getattr(td, name)(*parameters), getattr(wd, name)(*twins.to_weir(list(parameters)))


def _grad_parameters(parameters):
    return [p.clone().requires_grad_() if isinstance(p, torch.Tensor) and p.is_floating_point() else p for p in parameters]


@pytest.mark.parametrize("name", CASES)
def test_density_and_its_gradient(name):
    parameters = _grad_parameters(CASES[name][0])
    copies = twins.to_weir(parameters)
    theirs, ours = getattr(td, name)(*parameters), getattr(wd, name)(*copies)
    torch.manual_seed(1)
    value = theirs.sample((4,)).detach()
    expected, actual = theirs.log_prob(value), ours.log_prob(twins.to_weir(value))
    twins.assert_close(actual, expected, 1e-4, 1e-4, name)
    leaves = [p for p in parameters if isinstance(p, torch.Tensor) and p.requires_grad]
    twins_of = [c for p, c in zip(parameters, copies) if isinstance(p, torch.Tensor) and p.requires_grad]
    want = torch.autograd.grad(expected.sum(), leaves, allow_unused=True)
    got = weir.autograd.grad(actual.sum(), twins_of, allow_unused=True)
    for a, b in zip(got, want):
        assert (a is None) == (b is None)
        if b is not None:
            twins.assert_close(a, b, 2e-3, 2e-3, name)


@pytest.mark.parametrize("what", ["mean", "variance", "stddev", "mode", "entropy", "batch_shape", "event_shape"])
@pytest.mark.parametrize("name", CASES)
def test_moments(name, what):
    if (name, what) == ("Kumaraswamy", "mode"):
        pytest.skip("PyTorch 2.13 gives NaN everywhere: it takes logarithms of negative numbers")
    theirs, ours = _pair(name, CASES[name][0])
    try:
        expected = getattr(theirs, what)
        expected = expected() if what == "entropy" else expected
    except NotImplementedError:
        pytest.skip("PyTorch has none")
    actual = getattr(ours, what)
    actual = actual() if what == "entropy" else actual
    if what.endswith("shape"):
        assert tuple(actual) == tuple(expected)
    else:
        twins.assert_close(actual, expected, 1e-3, 1e-4, f"{name}.{what}")


@pytest.mark.parametrize("name", [n for n in CASES if len(CASES[n]) > 1])
def test_divergence(name):
    (p, ours_p), (q, ours_q) = _pair(name, CASES[name][0]), _pair(name, CASES[name][1])
    try:
        expected = td.kl_divergence(p, q)
    except NotImplementedError:
        pytest.skip("PyTorch has none")
    twins.assert_close(wd.kl_divergence(ours_p, ours_q), expected, 1e-3, 1e-4, name)


MIXED = sorted({(a.__name__, b.__name__) for a, b in td.kl._KL_REGISTRY if a is not b and {a.__name__, b.__name__} <= CASES.keys()})


@pytest.mark.parametrize("a, b", MIXED)
def test_divergence_between_kinds(a, b):
    for (p, ours_p), (q, ours_q) in itertools.product([_pair(a, case) for case in CASES[a]], [_pair(b, case) for case in CASES[b]]):
        twins.assert_close(wd.kl_divergence(ours_p, ours_q), td.kl_divergence(p, q), 1e-3, 1e-4, f"{a} {b}")


@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_generator(name):
    theirs, ours = _pair(name, CASES[name][0])
    torch.manual_seed(3)
    weir.manual_seed(3)
    drawn = [d.rsample((5,)) if theirs.has_rsample else d.sample((5,)) for d in (ours, theirs)]
    twins.assert_close(*drawn, 1e-4, 1e-4, name)


@pytest.mark.parametrize("name", ["Gamma", "Beta", "Dirichlet", "StudentT", "Poisson", "Binomial", "Exponential", "Wishart",
                                  "Categorical", "Multinomial", "NegativeBinomial", "Geometric"])
def test_draws_have_the_mean(name):
    theirs, ours = _pair(name, CASES[name][0])
    weir.manual_seed(0)
    n = 4000
    draws = ours.sample((n,)).double()
    expected = theirs.mean if name != "Categorical" else (PROBS * torch.arange(3.0)).sum(-1)
    spread = theirs.stddev.double() if name != "Categorical" else torch.ones(())
    error = (torch.from_numpy(draws.mean(0).numpy()) - expected.double()).abs()
    assert bool((error <= 6 * spread / n**0.5 + 1e-6).all()), (name, error)


@pytest.mark.parametrize("value", [0.05, 0.7, 3.0, 40.0])
def test_gradient_of_gamma_draws(value):
    """d x / d a holds F(x; a) constant."""
    from scipy.special import gammaincinv
    a = weir.full((50,), value, dtype=weir.float64).requires_grad_()
    weir.manual_seed(1)
    x = wd.Gamma(a, weir.ones(50, dtype=weir.float64)).rsample()
    (g,) = weir.autograd.grad(x.sum(), a)
    from scipy.special import gammainc
    u = gammainc(value, x.detach().numpy())
    step = 1e-5 * value
    expected = (gammaincinv(value + step, u) - gammaincinv(value - step, u)) / (2 * step)
    ok = (u > 1e-3) & (u < 1 - 1e-6)
    import numpy as np
    np.testing.assert_allclose(g.numpy()[ok], expected[ok], rtol=1e-3)


@pytest.mark.parametrize("constraint, size", [("real", 3), ("positive", 3), ("simplex", 3), ("unit_interval", 3), ("lower_cholesky", (3, 3)),
                                              ("corr_cholesky", 3), ("positive_definite", (3, 3))])
def test_bijections(constraint, size):
    x = torch.randn(size)
    to = "transform_to" if isinstance(size, tuple) else "biject_to"
    theirs, ours = getattr(td, to)(getattr(td.constraints, constraint)), getattr(wd, to)(getattr(wd.constraints, constraint))
    y, z = theirs(x), ours(twins.to_weir(x))
    twins.assert_close(z, y)
    twins.assert_close(ours.inv(z), theirs.inv(y), 1e-3, 1e-4)
    assert bool(getattr(wd.constraints, constraint).check(z).all())


def test_mixture_and_independent():
    for lib, conv in ((td, lambda x: x), (wd, twins.to_weir)):
        mixture = lib.MixtureSameFamily(lib.Categorical(conv(HALF)), lib.Normal(conv(L), conv(P)))
        joint = lib.Independent(lib.Normal(conv(L), conv(P)), 1)
        results = [mixture.mean, mixture.variance, mixture.log_prob(conv(torch.tensor(0.3))), joint.log_prob(conv(L)), joint.entropy(),
                   mixture.expand((2,)).mean]
        if lib is td:
            expected = results
    for a, b in zip(results, expected):
        twins.assert_close(a, b)


def test_bad_parameters_raise():
    with pytest.raises(ValueError, match="Expected parameter scale"):
        wd.Normal(0.0, -1.0)
    with pytest.raises(ValueError, match="within the support"):
        wd.Beta(1.0, 2.0).log_prob(weir.tensor(3.0))
    with pytest.raises(NotImplementedError, match="No KL"):
        wd.kl_divergence(wd.Normal(0.0, 1.0), wd.VonMises(0.0, 1.0))


def test_gamma_draws_of_what_has_no_distribution_end():
    asked = [-2.0, 0.0, float("nan"), float("inf")]
    draws = weir.distributions.Gamma(weir.tensor(asked), 1.0, validate_args=False).sample()
    twins.assert_close(draws, torch.distributions.Gamma(torch.tensor(asked), 1.0, validate_args=False).sample())


def test_angles_end_whatever_their_parameters():
    inf, nan = float("inf"), float("nan")
    k = weir.tensor([nan, -1.0, -1e20, 0.0, 1e-310, 1e17, 1e300, inf, 2.0, 2.0], dtype=weir.float64)
    loc = weir.tensor([0.0] * 8 + [nan, inf], dtype=weir.float64)
    draws = wd.VonMises(loc, k, validate_args=False).sample((50,))
    assert draws.isnan().all(0).tolist() == [True] * 3 + [False] * 5 + [True] * 2
    assert draws[:, 5:8].abs().max() < 1e-7


@pytest.mark.parametrize("concentration", [1e-12, 0.999e6, 1.001e6])
def test_angles_spread_as_their_concentration_says(concentration):
    weir.manual_seed(0)
    draws = wd.VonMises(weir.tensor(0.0, dtype=weir.float64), concentration).sample((20000,))
    spread = math.sqrt(1 / concentration) if concentration > 1 else math.pi / math.sqrt(3)
    assert abs(float(draws.std()) / spread - 1) < 0.03


def test_constraints_take_their_bounds_by_name():
    for F in (weir, torch):
        c = F.distributions.constraints
        assert c.interval(lower_bound=0.0, upper_bound=1.0).check(F.tensor([0.5, 2.0])).tolist() == [True, False]
        assert set(c.__all__) == set(torch.distributions.constraints.__all__)
        with pytest.raises(TypeError):
            c.greater_than(lower=0.0)


def test_a_mixture_accepts_what_its_components_do():
    for F in (weir, torch):
        d = F.distributions
        mixture = d.MixtureSameFamily(d.Categorical(F.ones(2)), d.Uniform(F.zeros(2), F.tensor([1.0, 2.0])), validate_args=True)
        assert mixture.support.check(F.tensor([0.5, 1.5])).tolist() == [True, False]


def test_divergences_of_a_librarys_own_types():
    for F in (weir, torch):
        class Kind(type):
            def __subclasscheck__(cls, other):
                return other is F.distributions.Poisson or super().__subclasscheck__(other)

        class Own(metaclass=Kind):
            pass
        F.distributions.register_kl(Own, Own)(lambda p, q: "own")
        p = F.distributions.Normal(0.0, 1.0)
        assert F.distributions.kl_divergence(p, p).item() == 0.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shares_are_pytorchs_and_inside_the_interval(dtype):
    """Of small concentrations most draws round to 0 or 1, where log_prob is infinite; PyTorch stays inside."""
    def draws(t):
        t.manual_seed(0)
        small = t.tensor([1e-2, 0.5, 2.0], dtype=getattr(t, dtype))
        return [t.distributions.Beta(small, small.flip(0)).sample((500,)), t.distributions.Dirichlet(small).sample((500,))]
    for ours, theirs in zip(draws(weir), draws(torch)):
        assert (ours.numpy() == theirs.numpy()).all() and ours.min() > 0 and ours.max() < 1


@pytest.mark.parametrize("name", sorted(set(td.transforms.__all__) - {"identity_transform"}))
def test_what_a_kind_of_transform_says_of_itself(name):
    def said(module):
        kind = getattr(module.transforms, name)
        sign = getattr(kind, "sign", None)
        return [x if not isinstance(x, property) else "property" for x in (kind.bijective, sign)]
    assert said(wd) == said(td)


def test_a_transform_without_a_sign_says_so():
    for module in (td, wd):
        with pytest.raises(NotImplementedError):
            module.transforms.StickBreakingTransform().sign
