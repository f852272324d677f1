"""Distributions whose draws come from gamma draws: Gamma, Chi2, Beta, Dirichlet, Student's t, Fisher-Snedecor and kin.

A draw's gradient by its concentration is implicit: d x / d a = -(d F / d a) / (d F / d x), F being the distribution function.
"""
import math

import weir
from weir import Size

from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import _standard_normal, broadcast_all

def _floor(x):
    return x.clamp(min=weir.finfo(x.dtype).tiny)


class Gamma(ExponentialFamily):
    """Sums of `concentration` waiting times of rate `rate`."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support, has_rsample, _mean_carrier_measure = constraints.nonnegative, True, 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Gamma, "concentration", "rate")
        super(Gamma, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        return _floor(weir._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape))

    def log_prob(self, value):
        value = weir.as_tensor(value, dtype=self.rate.dtype)
        if self._validate_args:
            self._validate_sample(value)
        return (weir.xlogy(self.concentration, self.rate) + weir.xlogy(self.concentration - 1, value) - self.rate * value
                - weir.lgamma(self.concentration))

    def cdf(self, value):
        """The distribution function, with a gradient by the value."""
        if self._validate_args:
            self._validate_sample(value)
        return weir.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        a = self.concentration
        return a - weir.log(self.rate) + weir.lgamma(a) + (1.0 - a) * weir.digamma(a)

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return weir.lgamma(x + 1) + (x + 1) * weir.log(-y.reciprocal())


class Chi2(Gamma):
    """Sums of `df` squared standard normals."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        df = df if isinstance(df, weir.Tensor) else weir.tensor(float(df))
        super().__init__(0.5 * df, weir.full_like(df, 0.5), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    df = property(lambda self: self.concentration * 2)


class Dirichlet(ExponentialFamily):
    """Shares that sum to 1. Shape of an event: the last dim of `concentration`."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support, has_rsample, _mean_carrier_measure = constraints.simplex, True, 0

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(tuple(concentration.shape)[:-1], tuple(concentration.shape)[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Dirichlet, "concentration", tails={"concentration": self.event_shape})
        super(Dirichlet, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=()):
        return weir._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return weir.xlogy(a - 1.0, value).sum(-1) + weir.lgamma(a.sum(-1)) - weir.lgamma(a).sum(-1)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self):
        lower = (self.concentration - 1).clamp(min=0.0)
        mode = lower / lower.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1, keepdim=True)
        largest = weir.nn.functional.one_hot(mode.nan_to_num().argmax(dim=-1), self.concentration.shape[-1]).to(mode.dtype)
        return weir.where(flat, largest, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self):
        k, a = self.concentration.size(-1), self.concentration
        total = a.sum(-1)
        return weir.lgamma(a).sum(-1) - weir.lgamma(total) - (k - total) * weir.digamma(total) - ((a - 1.0) * weir.digamma(a)).sum(-1)

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - weir.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """Shares of one in two: a Dirichlet of two."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support, has_rsample, _mean_carrier_measure = constraints.unit_interval, True, 0

    def __init__(self, concentration1, concentration0, validate_args=None):
        both = broadcast_all(concentration1, concentration0)
        self._dirichlet = Dirichlet(weir.stack(both, -1), validate_args=validate_args)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Beta, _instance)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        super(Beta, new).__init__(batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])
    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = property(lambda self: self._dirichlet.mode[..., 0])

    @property
    def variance(self):
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=()):
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(weir.stack([value, 1.0 - value], -1))

    def entropy(self):
        return self._dirichlet.entropy()

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return weir.lgamma(x) + weir.lgamma(y) - weir.lgamma(x + y)


class StudentT(Distribution):
    """A normal over the root of a chi-squared by its degrees of freedom."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.real, True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    mode = property(lambda self: self.loc)
    mean = property(lambda self: weir.where(self.df <= 1, weir.full_like(self.loc, math.nan), self.loc))

    @property
    def variance(self):
        df = self.df
        finite = self.scale.pow(2) * df / weir.where(df > 2, df - 2, weir.ones_like(df))
        result = weir.where(df > 2, finite, weir.full_like(df, math.inf))
        return weir.where(df <= 1, weir.full_like(df, math.nan), result)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, StudentT, "df", "loc", "scale")
        new._chi2 = self._chi2.expand(shape)
        super(StudentT, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=Size()):
        x = _standard_normal(self._extended_shape(sample_shape), self.df.dtype)
        return self.loc + self.scale * x * weir.rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        z = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + weir.lgamma(0.5 * self.df)
             - weir.lgamma(0.5 * (self.df + 1.0)))
        return -0.5 * (self.df + 1.0) * weir.log1p(y**2.0 / self.df) - z

    def entropy(self):
        beta = weir.lgamma(0.5 * self.df) + math.lgamma(0.5) - weir.lgamma(0.5 * (self.df + 1))
        return self.scale.log() + 0.5 * (self.df + 1) * (
            weir.digamma(0.5 * (self.df + 1)) - weir.digamma(0.5 * self.df)) + 0.5 * self.df.log() + beta


class FisherSnedecor(Distribution):
    """The quotient of two chi-squareds, each by its degrees of freedom."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support, has_rsample = constraints.positive, True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, FisherSnedecor, "df1", "df2")
        new._gamma1, new._gamma2 = self._gamma1.expand(shape), self._gamma2.expand(shape)
        super(FisherSnedecor, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def mean(self):
        df2 = weir.where(self.df2 > 2, self.df2, weir.full_like(self.df2, math.nan))
        return df2 / (df2 - 2)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return weir.where(self.df1 > 2, mode, weir.full_like(mode, math.nan))

    @property
    def variance(self):
        df2 = weir.where(self.df2 > 4, self.df2, weir.full_like(self.df2, math.nan))
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=Size()):
        return _floor(self._gamma1.rsample(sample_shape) / _floor(self._gamma2.rsample(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        return ((a + b).lgamma() - a.lgamma() - b.lgamma() + a * ratio.log() + (a - 1) * value.log()
                - (a + b) * weir.log1p(ratio * value))
