"""Distributions of one real number with densities written out: normal, uniform, exponential and their kin."""
import math

import weir
from weir import Size, Tensor

from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import _standard_normal, broadcast_all

_EULER = 0.57721566490153286060


def _scalar_shape(*given):
    """The batch shape of parameters of which numbers make none."""
    return Size() if all(isinstance(g, (int, float)) for g in given) else None


class Normal(ExponentialFamily):
    """Mean `loc`, standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample, _mean_carrier_measure = constraints.real, True, 0

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Normal, "loc", "scale")
        super(Normal, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=Size()):
        shape = self._extended_shape(sample_shape)
        with weir.no_grad():
            return weir.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=Size()):
        return self.loc + _standard_normal(self._extended_shape(sample_shape), self.loc.dtype) * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        variance = self.scale**2
        return -((value - self.loc) ** 2) / (2 * variance) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + weir.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value):
        return self.loc + self.scale * weir.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + weir.log(self.scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * weir.log(-math.pi / y)


class Uniform(Distribution):
    """All numbers of [low, high) alike."""

    has_rsample = True

    def __init__(self, low, high, validate_args=None):
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)
        if self._validate_args and not bool(weir.lt(self.low, self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def arg_constraints(self):
        return {"low": constraints.dependent(is_discrete=False, event_dim=0),
                "high": constraints.dependent(is_discrete=False, event_dim=0)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: weir.full_like(self.high, math.nan))
    stddev = property(lambda self: (self.high - self.low) / 12**0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Uniform, "low", "high")
        super(Uniform, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=Size()):
        u = weir.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low.le(value) & self.high.gt(value)).to(self.low.dtype)
        return weir.log(inside) - weir.log(self.high - self.low)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value):
        return value * (self.high - self.low) + self.low

    def entropy(self):
        return weir.log(self.high - self.low)


class Exponential(ExponentialFamily):
    """Waiting times of rate `rate`."""

    arg_constraints = {"rate": constraints.positive}
    support, has_rsample, _mean_carrier_measure = constraints.nonnegative, True, 0

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: weir.zeros_like(self.rate))
    variance = property(lambda self: self.rate.pow(-2))

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Exponential, "rate")
        super(Exponential, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=Size()):
        return weir.empty(self._extended_shape(sample_shape), dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 1 - weir.exp(-self.rate * value)

    def icdf(self, value):
        return -weir.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - weir.log(self.rate)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -weir.log(-x)


class Laplace(Distribution):
    """Two exponentials back to back at `loc`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.real, True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: 2**0.5 * self.scale)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Laplace, "loc", "scale")
        super(Laplace, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=Size()):
        eps = weir.finfo(self.loc.dtype).eps
        u = weir.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * weir.log1p(-u.abs())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -weir.log(2 * self.scale) - weir.abs(value - self.loc) / self.scale

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * weir.expm1(-(value - self.loc).abs() / self.scale)

    def icdf(self, value):
        term = value - 0.5
        return self.loc - self.scale * term.sign() * weir.log1p(-2 * term.abs())

    def entropy(self):
        return 1 + weir.log(2 * self.scale)


class Cauchy(Distribution):
    """The quotient of two normals: heavy tails, no mean."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.real, True

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    mean = property(lambda self: weir.full(self._extended_shape(), math.nan, dtype=self.loc.dtype))
    mode = property(lambda self: self.loc)
    variance = property(lambda self: weir.full(self._extended_shape(), math.inf, dtype=self.loc.dtype))

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Cauchy, "loc", "scale")
        super(Cauchy, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=Size()):
        return self.loc + weir.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_() * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return weir.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return weir.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()


_ALMOST_NORMAL = 1e6  # a concentration above which angles are normal numbers: from about 1e16 on their rejection has no digits left


def _angles(k):
    """Von Mises draws around 0 of concentrations `k`, by rejection. Source: Best and Fisher 1979."""
    x, fixed = weir.full_like(k, math.nan), ~((k >= 0) & (k <= _ALMOST_NORMAL))
    done = fixed
    if bool((k > _ALMOST_NORMAL).any()):
        x = weir.where(k > _ALMOST_NORMAL, k.rsqrt() * weir.randn_like(k), x)
    k = k.clamp(min=1e-300)  # the inverse of what is smaller is infinite
    tau = 1 + (1 + 4 * k**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * k)
    r = weir.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))
    while not bool(done.all()):
        u1, u2, u3 = weir.rand((3,) + tuple(k.shape), dtype=weir.float64).unbind()
        z = weir.cos(math.pi * u1)
        f = (1 + r * z) / (r + z)
        c = k * (r - f)
        accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
        # As in PyTorch, the last angle accepted stays, not the first, until all places have one.
        x = weir.where(accept & ~fixed, (u3 - 0.5).sign() * f.clamp(-1, 1).acos(), x)
        done = done | accept
    return x


class VonMises(Distribution):
    """Angles around `loc`, the closer the larger `concentration`."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        """The circular variance, 1 - I1 / I0."""
        k = self.concentration
        return 1 - weir.special.i1e(k) / weir.special.i0e(k)

    def expand(self, batch_shape, _instance=None):
        if _instance is not None:
            new, shape = self._fields(batch_shape, _instance, VonMises, "loc", "concentration")
            super(VonMises, new).__init__(shape, validate_args=False)
            new._validate_args = self._validate_args
            return new
        return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=self._validate_args)

    def sample(self, sample_shape=Size()):
        """Draws in [-pi, pi). NaN where a parameter is NaN or the concentration is negative."""
        with weir.no_grad():
            shape = self._extended_shape(sample_shape)
            x, loc = _angles(self.concentration.double().expand(shape)), self.loc.double()
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        return k * weir.cos(value - self.loc) - math.log(2 * math.pi) - (weir.special.i0e(k).log() + k)


class GeneralizedPareto(Distribution):
    """What lies above a threshold `loc`: exponential for concentration 0, heavier tails above, a bounded range below."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, GeneralizedPareto, "loc", "scale", "concentration")
        super(GeneralizedPareto, new).__init__(shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        upper = weir.where(self.concentration < 0, self.loc - self.scale / self.concentration, weir.full_like(self.loc, math.inf))
        return constraints.interval(self.loc, upper)

    def _near_zero(self):
        return self.concentration.abs() < weir.finfo(self.loc.dtype).eps

    def rsample(self, sample_shape=Size()):
        return self.icdf(weir.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z, near = (value - self.loc) / self.scale, self._near_zero()
        k = weir.where(near, weir.ones_like(self.concentration), self.concentration)
        return -self.scale.log() + weir.where(near, -z, -(1 + 1 / k) * weir.log1p(k * z))

    def log_survival_function(self, value):
        z, near = (value - self.loc) / self.scale, self._near_zero()
        k = weir.where(near, weir.ones_like(self.concentration), self.concentration)
        return weir.where(near, -z, -weir.log1p(k * z) / k)

    def log_cdf(self, value):
        return weir.log1p(-weir.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return weir.exp(self.log_cdf(value))

    def icdf(self, value):
        near = self._near_zero()
        k = weir.where(near, weir.ones_like(self.concentration), self.concentration)
        log_above = weir.log1p(-value)
        return self.loc + self.scale * weir.where(near, -log_above, weir.expm1(-k * log_above) / k)

    @property
    def mean(self):
        valid = self.concentration < 1
        k = weir.where(valid, self.concentration, weir.full_like(self.concentration, 0.5))
        return weir.where(valid, self.loc + self.scale / (1 - k), weir.full_like(self.loc, math.inf))

    @property
    def variance(self):
        valid = self.concentration < 0.5
        k = weir.where(valid, self.concentration, weir.full_like(self.concentration, 0.25))
        return weir.where(valid, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), weir.full_like(self.loc, math.inf))

    mode = property(lambda self: self.loc)

    def entropy(self):
        return (weir.log(self.scale) + self.concentration + 1).expand(self._batch_shape)
