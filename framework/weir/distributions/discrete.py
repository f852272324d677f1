"""Distributions of an event of some probability, and of counts."""
import math

import weir
from weir import Size
from weir.nn import functional as F

from . import constraints
from .distribution import Distribution, ExponentialFamily
from .gamma_family import Gamma
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits


def _one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _Binary:
    """`probs` and `logits` of an event, each computed from the other one that was given."""

    def _set(self, probs, logits):
        _one_of(probs, logits)
        name = "probs" if probs is not None else "logits"
        (value,) = broadcast_all(probs if probs is not None else logits)
        setattr(self, name, value)
        self._param = value

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        return self._param.size()

    def _expanded(self, base, batch_shape, _instance, *more):
        new, shape = self._fields(batch_shape, _instance, base, "probs", "logits", *more)
        new._param = new.__dict__.get("probs", new.__dict__.get("logits"))
        super(base, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new


_BINARY = {"probs": constraints.unit_interval, "logits": constraints.real}


class Bernoulli(_Binary, ExponentialFamily):
    """1 with probability `probs`, else 0."""

    arg_constraints, support = _BINARY, constraints.boolean
    has_enumerate_support, _mean_carrier_measure = True, 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Bernoulli, batch_shape, _instance)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs.dtype)
        return weir.where(self.probs == 0.5, weir.full_like(mode, math.nan), mode)

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            return weir.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = weir.arange(2, dtype=self._param.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values

    @property
    def _natural_params(self):
        return (weir.logit(self.probs),)

    def _log_normalizer(self, x):
        return weir.log1p(weir.exp(x))


class ContinuousBernoulli(_Binary, ExponentialFamily):
    """Numbers of [0, 1] with density C p^x (1 - p)^(1 - x). Source: Loaiza-Ganem and Cunningham 2019."""

    arg_constraints, support = _BINARY, constraints.unit_interval
    has_rsample, _mean_carrier_measure = True, 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._set(probs, logits)
        if probs is not None:
            if validate_args is not None and validate_args and not bool(constraints.unit_interval.check(self.probs).all()):
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
            self._param = self.probs
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance)
        new._lims = self._lims
        return new

    def _outside_unstable_region(self):
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self):
        return weir.where(self._outside_unstable_region(), self.probs, weir.full_like(self.probs, self._lims[0]))

    def _cont_bern_log_norm(self):
        """log C; near 1/2 by its Taylor series, where the quotient cancels."""
        p = self._cut_probs()
        half = weir.full_like(p, 0.5)
        below = weir.where(p <= 0.5, p, weir.zeros_like(p))
        above = weir.where(p >= 0.5, p, weir.ones_like(p))
        log_norm = weir.log(weir.abs(weir.log1p(-p) - weir.log(p))) - weir.where(
            p < half, weir.log1p(-2.0 * below), weir.log(2.0 * above - 1.0))
        x = (self.probs - 0.5) ** 2
        return weir.where(self._outside_unstable_region(), log_norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        p = self._cut_probs()
        means = p / (2.0 * p - 1.0) + 1.0 / (weir.log1p(-p) - weir.log(p))
        x = self.probs - 0.5
        return weir.where(self._outside_unstable_region(), means, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    stddev = property(lambda self: weir.sqrt(self.variance))

    @property
    def variance(self):
        p = self._cut_probs()
        variances = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (weir.log1p(-p) - weir.log(p)) ** 2
        x = (self.probs - 0.5) ** 2
        return weir.where(self._outside_unstable_region(), variances, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=Size()):
        return self.icdf(weir.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        cdfs = (weir.pow(p, value) * weir.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = weir.where(self._outside_unstable_region(), cdfs, value)
        return weir.where(value <= 0.0, weir.zeros_like(value), weir.where(value >= 1.0, weir.ones_like(value), inside))

    def icdf(self, value):
        p = self._cut_probs()
        return weir.where(self._outside_unstable_region(), (
            weir.log1p(-p + value * (2.0 * p - 1.0)) - weir.log1p(-p)) / (weir.log(p) - weir.log1p(-p)), value)

    def entropy(self):
        log0, log1 = weir.log1p(-self.probs), weir.log(self.probs)
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        away = (x.abs() > 1e-3)
        cut = weir.where(away, x, weir.ones_like(x))
        return weir.where(away, weir.log(weir.abs(weir.special.expm1(cut))) - weir.log(weir.abs(cut)), 0.5 * x + x.pow(2) / 24.0)


class Geometric(_Binary, Distribution):
    """Failures before the first success of probability `probs`."""

    arg_constraints, support = _BINARY, constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of distribution {self!r} to be "
                             f"positive but found invalid values:\n{self.probs}")

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Geometric, batch_shape, _instance)

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: weir.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            u = weir.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype).clamp(min=weir.finfo(self.probs.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = weir.where((probs == 1) & (value == 0), weir.zeros_like(probs), probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Binomial(_Binary, Distribution):
    """Successes of probability `probs` among `total_count` draws."""

    arg_constraints = {"total_count": constraints.nonnegative_integer, **_BINARY}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        name = "probs" if probs is not None else "logits"
        self.total_count, value = broadcast_all(total_count, probs if probs is not None else logits)
        self.total_count = self.total_count.to(value.dtype)
        setattr(self, name, value)
        self._param = value
        super().__init__(value.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Binomial, batch_shape, _instance, "total_count")

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: weir.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        with weir.no_grad():
            return weir.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        positive = (self.logits.clamp(min=0) + self.logits - self.logits.clamp(max=0)) / 2  # its slope at 0 is 1/2
        normalize = n * positive + n * weir.log1p(weir.exp(-self.logits.abs())) - weir.lgamma(n + 1)
        return value * self.logits - weir.lgamma(value + 1) - weir.lgamma(n - value + 1) - normalize

    def entropy(self):
        total = int(self.total_count.max())
        if not bool((self.total_count.min() == total)):
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(weir.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        total = int(self.total_count.max())
        if not bool((self.total_count.min() == total)):
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = weir.arange(1 + total, dtype=self._param.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values


class NegativeBinomial(_Binary, Distribution):
    """Successes of probability `probs` before `total_count` failures."""

    arg_constraints = {"total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
                       "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        _one_of(probs, logits)
        name = "probs" if probs is not None else "logits"
        self.total_count, value = broadcast_all(total_count, probs if probs is not None else logits)
        self.total_count = self.total_count.to(value.dtype)
        setattr(self, name, value)
        self._param = value
        super().__init__(value.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(NegativeBinomial, batch_shape, _instance, "total_count")

    mean = property(lambda self: self.total_count * weir.exp(self.logits))
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = property(lambda self: self.mean / weir.sigmoid(-self.logits))

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            rate = Gamma(self.total_count, weir.exp(-self.logits), validate_args=False).sample(sample_shape)
            return weir.poisson(rate)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        unnormalized = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        normal = -weir.lgamma(self.total_count + value) + weir.lgamma(1.0 + value) + weir.lgamma(self.total_count)
        return unnormalized - normal.masked_fill(self.total_count + value == 0.0, 0.0)


class Poisson(ExponentialFamily):
    """Counts of events of rate `rate`."""

    arg_constraints, support = {"rate": constraints.nonnegative}, constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Poisson, "rate")
        super(Poisson, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            return weir.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self):
        return (weir.log(self.rate),)

    def _log_normalizer(self, x):
        return weir.exp(x)
