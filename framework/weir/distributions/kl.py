"""Divergences between distributions, looked up by their types. Source: torch.distributions.kl."""
import math

import weir

from . import categorical as k
from . import continuous as c
from . import discrete as d
from . import gamma_family as g
from . import multivariate as m
from . import transformed as t
from .distribution import Distribution, ExponentialFamily
from .utils import _sum_rightmost, euler_constant

_KL_REGISTRY: dict = {}


def register_kl(type_p, type_q):
    """Decorates a function of (p, q) that computes their divergence. TypeError unless both are types.

    They need not be subclasses of Distribution: libraries have distributions of their own."""
    for kind in (type_p, type_q):
        if not isinstance(kind, type):
            raise TypeError(f"Expected a Distribution subclass but got {kind}")

    def enter(function):
        _KL_REGISTRY[type_p, type_q] = function
        return function
    return enter


def _steps(kind, base):
    """How far a base is: behind all others where it is one by its metaclass only."""
    return kind.__mro__.index(base) if base in kind.__mro__ else len(kind.__mro__)


def _dispatch_kl(p, q):
    """The entry whose types are nearest: first p's, then q's, in the order of their bases."""
    found = [(_steps(p, a), _steps(q, b), f) for (a, b), f in _KL_REGISTRY.items() if issubclass(p, a) and issubclass(q, b)]
    return min(found, key=lambda x: x[:2])[2] if found else None


def kl_divergence(p, q):
    """KL(p || q), per member of the batch. NotImplementedError for types that nobody entered."""
    function = _dispatch_kl(type(p), type(q))
    if function is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return function(p, q)


def _inf(like):
    return weir.full_like(like, math.inf)


def _x_log_x(x):
    return weir.special.xlogy(x, x)


def _infinite(types_p, types_q):
    for a in types_p:
        for b in types_q:
            register_kl(a, b)(lambda p, q: weir.full(weir.broadcast_shapes(p.batch_shape, q.batch_shape), math.inf))


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p, q):
    """The Bregman divergence of the log normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed using Bregman divergences")
    ps = [x.detach().requires_grad_() for x in p._natural_params]
    lp, lq = p._log_normalizer(*ps), q._log_normalizer(*q._natural_params)
    gradients = weir.autograd.grad(lp.sum(), ps, create_graph=True)
    result = lq - lp
    for a, b, gr in zip(ps, q._natural_params, gradients):
        result = result - _sum_rightmost((b - a) * gr, len(q.event_shape))
    return result


@register_kl(d.Bernoulli, d.Bernoulli)
def _bernoulli(p, q):
    soft = weir.nn.functional.softplus
    t1 = p.probs * (soft(-q.logits) - soft(-p.logits))
    t1 = weir.where((q.probs == 0) & (p.probs != 0), _inf(t1), t1)
    t1 = weir.where(p.probs == 0, weir.zeros_like(t1), t1)
    t2 = (1 - p.probs) * (soft(q.logits) - soft(p.logits))
    t2 = weir.where((q.probs == 1) & (p.probs != 1), _inf(t2), t2)
    return t1 + weir.where(p.probs == 1, weir.zeros_like(t2), t2)


@register_kl(g.Beta, g.Beta)
def _beta(p, q):
    sp, sq = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    return (q.concentration1.lgamma() + q.concentration0.lgamma() + sp.lgamma()
            - p.concentration1.lgamma() - p.concentration0.lgamma() - sq.lgamma()
            + (p.concentration1 - q.concentration1) * weir.digamma(p.concentration1)
            + (p.concentration0 - q.concentration0) * weir.digamma(p.concentration0) + (sq - sp) * weir.digamma(sp))


@register_kl(d.Binomial, d.Binomial)
def _binomial(p, q):
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return weir.where(p.total_count > q.total_count, _inf(kl), kl)


@register_kl(k.Categorical, k.Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = weir.where((q.probs == 0).expand(terms.shape), _inf(terms), terms)
    return weir.where((p.probs == 0).expand(terms.shape), weir.zeros_like(terms), terms).sum(-1)


@register_kl(k.OneHotCategorical, k.OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(d.ContinuousBernoulli, d.ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    return p.mean * (p.logits - q.logits) + p._cont_bern_log_norm() + weir.log1p(-p.probs) - q._cont_bern_log_norm() - weir.log1p(-q.probs)


@register_kl(g.Dirichlet, g.Dirichlet)
def _dirichlet(p, q):
    sp, sq = p.concentration.sum(-1), q.concentration.sum(-1)
    diff = p.concentration - q.concentration
    return (sp.lgamma() - sq.lgamma() - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
            + (diff * (p.concentration.digamma() - sp.digamma().unsqueeze(-1))).sum(-1))


@register_kl(c.Exponential, c.Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(g.Gamma, g.Gamma)
def _gamma(p, q):
    return (q.concentration * (p.rate / q.rate).log() + weir.lgamma(q.concentration) - weir.lgamma(p.concentration)
            + (p.concentration - q.concentration) * weir.digamma(p.concentration) + (q.rate - p.rate) * (p.concentration / p.rate))


@register_kl(t.Gumbel, t.Gumbel)
def _gumbel(p, q):
    ratio, shift_p, shift_q = p.scale / q.scale, p.loc / q.scale, q.loc / q.scale
    return (-ratio.log() + shift_p - shift_q + ratio * euler_constant + weir.exp(shift_q + (1 + ratio).lgamma() - shift_p)
            - (1 + euler_constant))


@register_kl(d.Geometric, d.Geometric)
def _geometric(p, q):
    return -p.entropy() - weir.log1p(-q.probs) / p.probs - q.logits


@register_kl(t.HalfNormal, t.HalfNormal)
@register_kl(t.LogNormal, t.LogNormal)
def _of_base(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(c.Laplace, c.Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * weir.exp(-distance / p.scale) - 1


@register_kl(c.Normal, c.Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(m.MultivariateNormal, m.MultivariateNormal)
@register_kl(m.LowRankMultivariateNormal, m.LowRankMultivariateNormal)
@register_kl(m.MultivariateNormal, m.LowRankMultivariateNormal)
@register_kl(m.LowRankMultivariateNormal, m.MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed")
    fp = p._unbroadcasted_scale_tril if hasattr(p, "_unbroadcasted_scale_tril") else p.scale_tril
    fq = q._unbroadcasted_scale_tril if hasattr(q, "_unbroadcasted_scale_tril") else q.scale_tril
    half = m._half_log_det(fq) - m._half_log_det(fp)
    trace = m._solve_lower(fq, fp).pow(2).sum([-2, -1])
    return half + 0.5 * (trace + m._batch_mahalanobis(fq, q.loc - p.loc) - p.event_shape[0])


@register_kl(t.Pareto, t.Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return weir.where(p.scale < q.scale, _inf(result), result)


@register_kl(d.Poisson, d.Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(t.TransformedDistribution, t.TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(c.Uniform, c.Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return weir.where((q.low > p.low) | (q.high < p.high), _inf(result), result)


@register_kl(m.Independent, m.Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(c.Cauchy, c.Cauchy)
def _cauchy(p, q):
    return (((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)) / (4 * p.scale * q.scale)).log()


@register_kl(c.Exponential, g.Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    return -q.concentration * weir.log(ratio) + ratio + q.concentration.lgamma() + q.concentration * euler_constant - (1 + euler_constant)


@register_kl(c.Exponential, t.Gumbel)
def _exponential_gumbel(p, q):
    scaled, shift = p.rate * q.scale, q.loc / q.scale
    return scaled.log() - 1 + scaled.reciprocal() - shift + weir.exp(shift) * scaled / (scaled + 1)


@register_kl(c.Exponential, c.Normal)
def _exponential_normal(p, q):
    variance, rate = q.scale.pow(2), p.rate.pow(2)
    return 0.5 * weir.log(rate * variance * 2 * math.pi) - 1 + rate.reciprocal() / variance - q.loc / (p.rate * variance) + q.loc.pow(2) / variance / 2


@register_kl(c.Laplace, c.Normal)
def _laplace_normal(p, q):
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    return -weir.log(ratio) / 2 + 0.5 * math.log(2 * math.pi) - math.log(2) + ratio + 0.5 * p.loc.pow(2) / variance \
        - p.loc / variance * q.loc + 0.5 * q.loc.pow(2) / variance - 1


@register_kl(c.Normal, t.Gumbel)
def _normal_gumbel(p, q):
    a, b, shift = p.loc / q.scale, (p.scale / q.scale).pow(2), q.loc / q.scale
    return -(p.scale / q.scale).log() + (a - shift) + weir.exp(shift - a + 0.5 * b) - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(c.Normal, c.Laplace)
def _normal_laplace(p, q):
    diff = p.loc - q.loc
    z = diff / p.scale
    first = math.sqrt(2 / math.pi) * p.scale * weir.exp(-0.5 * z.pow(2))
    return (first + diff * weir.erf(math.sqrt(0.5) * z)) / q.scale - (p.scale / q.scale).log() - (0.5 * (1 + math.log(2 * math.pi)) - math.log(2))


@register_kl(c.Uniform, c.Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    return weir.log(math.sqrt(math.pi * 2) * q.scale / width) + (width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)) / (2 * q.scale.pow(2))


@register_kl(c.Uniform, c.Exponential)
def _uniform_exponential(p, q):
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return weir.where(p.low < 0, _inf(result), result)


@register_kl(c.Uniform, t.Gumbel)
def _uniform_gumbel(p, q):
    low, high = (q.loc - p.low) / q.scale, (q.loc - p.high) / q.scale
    return (q.scale / (p.high - p.low)).log() - 0.5 * (high + low) - (weir.exp(high) - weir.exp(low)) / (low - high)


# What follows is -H(p) - E log q, where log q needs no more of p than its moments.


def _by_moments(*kinds, of):
    def enter(function):
        for kind in kinds:
            register_kl(kind, of)(function)
        return function
    return enter


@_by_moments(g.Beta, d.ContinuousBernoulli, g.Gamma, t.Gumbel, t.Pareto, of=c.Normal)
def _from_normal(p, q):
    return -p.entropy() + 0.5 * (2 * math.pi * q.variance).log() + (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.variance)


@_by_moments(g.Beta, d.ContinuousBernoulli, g.Gamma, t.Pareto, of=c.Exponential)
def _from_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


def _from_uniform(p, q, inside):
    result = -p.entropy() + (q.high - q.low).log()
    return weir.where(inside, result, _inf(result))


@register_kl(g.Beta, c.Uniform)
def _beta_uniform(p, q):
    return _from_uniform(p, q, (q.low <= 0) & (q.high >= 1))


@register_kl(d.ContinuousBernoulli, c.Uniform)
def _continuous_bernoulli_uniform(p, q):
    """As in PyTorch, one that ends where the support does is too small."""
    return _from_uniform(p, q, (q.low < 0) & (q.high > 1))


def _from_gamma(p, q, mean_log):
    return -p.entropy() + q.concentration.lgamma() - q.concentration * q.rate.log() - (q.concentration - 1) * mean_log + q.rate * p.mean


@register_kl(g.Beta, g.Gamma)
def _beta_gamma(p, q):
    return _from_gamma(p, q, p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma())


@register_kl(t.Pareto, g.Gamma)
def _pareto_gamma(p, q):
    return _from_gamma(p, q, p.scale.log() + p.alpha.reciprocal())


def _mean_log(low, high):
    """E log x of x uniform between them."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(c.Uniform, g.Gamma)
def _uniform_gamma(p, q):
    result = _from_gamma(p, q, _mean_log(p.low, p.high))
    return weir.where(p.low < 0, _inf(result), result)


@register_kl(c.Uniform, g.Beta)
def _uniform_beta(p, q):
    a, b = q.concentration1, q.concentration0
    result = -p.entropy() + a.lgamma() + b.lgamma() - (a + b).lgamma() - (a - 1) * _mean_log(p.low, p.high) - (b - 1) * _mean_log(1 - p.high, 1 - p.low)
    return weir.where((p.high > 1) | (p.low < 0), _inf(result), result)


@register_kl(g.Beta, d.ContinuousBernoulli)
def _from_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - weir.log1p(-q.probs) - q._cont_bern_log_norm()


@register_kl(c.Uniform, d.ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    result = _from_continuous_bernoulli(p, q)
    return weir.where((p.high >= 1) | (p.low <= 0), _inf(result), result)


@register_kl(g.Gamma, t.Gumbel)
def _gamma_gumbel(p, q):
    shift, moment = q.loc / q.scale, (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)  # the moment: E exp(-x / scale)
    return -p.entropy() + q.scale.log() + p.mean / q.scale - shift + shift.exp() * moment


@register_kl(d.Bernoulli, d.Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


_infinite((c.Exponential, g.Gamma, t.Gumbel, c.Laplace, c.Normal, t.Pareto), (g.Beta, d.ContinuousBernoulli, c.Uniform))
_infinite((t.Gumbel, c.Laplace, c.Normal), (c.Exponential, g.Gamma, t.Pareto))
_infinite((g.Beta, d.ContinuousBernoulli, c.Exponential, g.Gamma, c.Uniform), (t.Pareto,))
_infinite((d.Poisson,), (d.Bernoulli, d.Binomial))
