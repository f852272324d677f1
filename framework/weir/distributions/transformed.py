"""Distributions of transformed values: log-normal, Gumbel, Pareto, relaxed categories and others."""
import math

import weir
from weir import Size
from weir.nn import functional as F

from . import constraints
from .continuous import Cauchy, Exponential, Normal, Uniform
from .categorical import Categorical
from .distribution import Distribution
from .gamma_family import Gamma
from .multivariate import Independent
from .transforms import (AffineTransform, ComposeTransform, ExpTransform, PowerTransform, SigmoidTransform,
                         StickBreakingTransform, AbsTransform, Transform)
from .utils import _sum_rightmost, broadcast_all, clamp_probs, euler_constant, logits_to_probs, probs_to_logits, lazy_property


class TransformedDistribution(Distribution):
    """Values y = t(x) of draws x of a base distribution."""

    arg_constraints: dict = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        base_shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        event = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        if len(base_shape) < transform.domain.event_dim:
            raise ValueError(f"base_distribution needs to have shape with size at least {transform.domain.event_dim}, but got {base_shape}.")
        shape = tuple(transform.forward_shape(base_shape))
        expanded = tuple(transform.inverse_shape(shape))
        if base_shape != expanded:
            base_distribution = base_distribution.expand(expanded[:len(expanded) - event])
        more = transform.domain.event_dim - event
        self.base_dist = Independent(base_distribution, more) if more > 0 else base_distribution
        event = transform.codomain.event_dim + max(event - transform.domain.event_dim, 0)
        super().__init__(shape[:len(shape) - event], shape[len(shape) - event:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(TransformedDistribution, _instance)
        transform = ComposeTransform(self.transforms)
        shape = tuple(transform.inverse_shape(tuple(batch_shape) + tuple(self.event_shape)))
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        super(TransformedDistribution, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    def _forward(self, x):
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=Size()):
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event, total, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            event += t.domain.event_dim - t.codomain.event_dim
            total = total - _sum_rightmost(t.log_abs_det_jacobian(x, y), event - t.domain.event_dim)
            y = x
        return total + _sum_rightmost(self.base_dist.log_prob(y), event - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value):
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value):
        for t in reversed(self.transforms):
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))


class LogNormal(TransformedDistribution):
    """Exponentials of normal draws."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.positive, True

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogNormal, _instance))

    loc, scale = property(lambda self: self.base_dist.loc), property(lambda self: self.base_dist.scale)
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())
    variance = property(lambda self: self.scale.pow(2).expm1() * (2 * self.loc + self.scale.pow(2)).exp())

    def entropy(self):
        return self.base_dist.entropy() + self.loc


class _Half(TransformedDistribution):
    """The size of a draw of a distribution that is symmetric around 0."""

    arg_constraints = {"scale": constraints.positive}
    support, has_rsample = constraints.nonnegative, True
    scale = property(lambda self: self.base_dist.scale)
    mode = property(lambda self: weir.zeros_like(self.scale))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        result = self.base_dist.log_prob(value) + math.log(2)
        return weir.where(weir.as_tensor(value) >= 0, result, weir.full_like(result, -math.inf))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)


class HalfNormal(_Half):
    """Sizes of normal draws around 0."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfNormal, _instance))

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class HalfCauchy(_Half):
    """Sizes of Cauchy draws around 0."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    mean = property(lambda self: weir.full(self._extended_shape(), math.inf, dtype=self.scale.dtype))
    variance = property(lambda self: self.base_dist.variance)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)


class Gumbel(TransformedDistribution):
    """Largest of many draws: loc - scale log(-log u)."""

    arg_constraints, support = {"loc": constraints.real, "scale": constraints.positive}, constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        f = weir.finfo(self.loc.dtype)
        low, high = weir.full_like(self.loc, f.tiny), weir.full_like(self.loc, 1 - f.eps)
        super().__init__(Uniform(low, high, validate_args=validate_args), [
            ExpTransform().inv, AffineTransform(loc=0, scale=-weir.ones_like(self.scale)), ExpTransform().inv,
            AffineTransform(loc=self.loc, scale=-self.scale)], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Gumbel, "loc", "scale")
        return super().expand(shape, _instance=new)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    mean = property(lambda self: self.loc + self.scale * euler_constant)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: (math.pi / math.sqrt(6)) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def entropy(self):
        return self.scale.log() + (1 + euler_constant)


class Pareto(TransformedDistribution):
    """scale times the exponential of a waiting time of rate alpha."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        super().__init__(Exponential(self.alpha, validate_args=validate_args),
                         [ExpTransform(), AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Pareto, "scale", "alpha")
        new.base_dist = self.base_dist.expand(shape)
        new.transforms = [ExpTransform(), AffineTransform(loc=0, scale=new.scale)]
        Distribution.__init__(new, shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self):
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = property(lambda self: self.scale)

    @property
    def variance(self):
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self):
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """scale times a waiting time of rate 1 to the power of 1 / concentration."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        super().__init__(Exponential(weir.ones_like(self.scale), validate_args=validate_args), self._steps(),
                         validate_args=validate_args)

    def _steps(self):
        return [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Weibull, "scale", "concentration", "concentration_reciprocal")
        new.base_dist, new.transforms = self.base_dist.expand(shape), new._steps()
        Distribution.__init__(new, shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    mean = property(lambda self: self.scale * weir.exp(weir.lgamma(1 + self.concentration_reciprocal)))

    @property
    def mode(self):
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self):
        r = self.concentration_reciprocal
        return self.scale.pow(2) * (weir.exp(weir.lgamma(1 + 2 * r)) - weir.exp(2 * weir.lgamma(1 + r)))

    def entropy(self):
        r = self.concentration_reciprocal
        return euler_constant * (1 - r) + weir.log(self.scale * r) + 1


class Kumaraswamy(TransformedDistribution):
    """Numbers of [0, 1] with the closed form 1 - (1 - x^a)^b."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support, has_rsample = constraints.unit_interval, True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(Uniform(weir.zeros_like(self.concentration0), weir.ones_like(self.concentration0),
                                 validate_args=validate_args), [
            PowerTransform(exponent=self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal())], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Kumaraswamy, "concentration1", "concentration0")
        return super().expand(shape, _instance=new)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        return weir.exp(b.log() + weir.lgamma(1 + n / a) + weir.lgamma(b) - weir.lgamma(1 + n / a + b))

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self._moment(1).pow(2))

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * ((a - 1).log() - (a * b - 1).log())
        return weir.where((a < 1) | (b < 1), weir.full_like(log_mode, math.nan), log_mode.exp())

    def entropy(self):
        a, b = self.concentration1, self.concentration0
        t1, t0 = 1 - a.reciprocal(), 1 - b.reciprocal()
        h0 = weir.digamma(b + 1) + euler_constant
        return t0 + t1 * h0 - weir.log(a) - weir.log(b)


class InverseGamma(TransformedDistribution):
    """Reciprocals of gamma draws."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support, has_rsample = constraints.positive, True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(exponent=-weir.ones((), dtype=base.rate.dtype)), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    concentration, rate = property(lambda self: self.base_dist.concentration), property(lambda self: self.base_dist.rate)

    @property
    def mean(self):
        result = self.rate / (self.concentration - 1)
        return weir.where(self.concentration > 1, result, weir.full_like(result, math.inf))

    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def variance(self):
        a = self.concentration
        result = self.rate.square() / ((a - 1).square() * (a - 2))
        return weir.where(a > 2, result, weir.full_like(result, math.inf))

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class LogisticNormal(TransformedDistribution):
    """Shares from normal vectors by stick breaking. The event has one more entry than loc."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.simplex, True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        base = base.expand([1]) if not base.batch_shape else base
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    loc, scale = property(lambda self: self.base_dist.base_dist.loc), property(lambda self: self.base_dist.base_dist.scale)


class LogitRelaxedBernoulli(Distribution):
    """The logit of a RelaxedBernoulli."""

    arg_constraints, support = {"probs": constraints.unit_interval, "logits": constraints.real}, constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self.temperature = temperature
        (self._param,) = broadcast_all(probs if probs is not None else logits)
        setattr(self, "probs" if probs is not None else "logits", self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, LogitRelaxedBernoulli, "probs", "logits")
        new.temperature, new._param = self.temperature, new.__dict__.get("probs", new.__dict__.get("logits"))
        super(LogitRelaxedBernoulli, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    param_shape = property(lambda self: self._param.size())

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(weir.rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        diff = logits - value.mul(self.temperature)
        return (self.temperature.log() if isinstance(self.temperature, weir.Tensor) else math.log(self.temperature)) \
            + diff - 2 * diff.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers of (0, 1), the nearer to 0 and 1 the lower the temperature. Source: Maddison et al. 2017, Jang et al. 2017."""

    arg_constraints, support = {"probs": constraints.unit_interval, "logits": constraints.real}, constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))

    temperature, logits = property(lambda self: self.base_dist.temperature), property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a RelaxedOneHotCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support, has_rsample = constraints.real_vector, True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        super().__init__(self._categorical.batch_shape, tuple(self._categorical.param_shape)[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature, new._categorical = self.temperature, self._categorical.expand(batch_shape)
        super(ExpRelaxedCategorical, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    param_shape = property(lambda self: self._categorical.param_shape)
    logits, probs = property(lambda self: self._categorical.logits), property(lambda self: self._categorical.probs)

    def rsample(self, sample_shape=Size()):
        u = clamp_probs(weir.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-(u.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        temperature = weir.as_tensor(self.temperature, dtype=logits.dtype)
        log_scale = weir.full_like(temperature, float(k)).lgamma() - temperature.log().mul(-(k - 1))
        score = logits - value.mul(temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares, the nearer to a single 1 the lower the temperature. Source: Maddison et al. 2017, Jang et al. 2017."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support, has_rsample = constraints.simplex, True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args), ExpTransform(),
                         validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedOneHotCategorical, _instance))

    temperature, logits = property(lambda self: self.base_dist.temperature), property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)
