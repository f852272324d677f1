"""Distributions of vectors and matrices: normals, Wishart, LKJ, and mixtures."""
import math
import warnings

import weir
from weir import Size
from weir.nn import functional as F

from . import constraints
from .categorical import Categorical
from .distribution import Distribution, ExponentialFamily
from .gamma_family import Beta, Chi2
from .utils import _standard_normal, lazy_property


def _batch_mv(matrix, vector):
    return weir.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _solve_lower(factor, b):
    """factor^-1 b for lower triangular factors, broadcast over batches."""
    shape = weir.broadcast_shapes(tuple(factor.shape)[:-2], tuple(b.shape)[:-2])
    factor = factor.expand(tuple(shape) + tuple(factor.shape)[-2:])
    return weir.linalg.solve_triangular(factor, b.expand(tuple(shape) + tuple(b.shape)[-2:]), upper=False)


def _batch_mahalanobis(factor, x):
    """x^T (L L^T)^-1 x"""
    return _solve_lower(factor, x.unsqueeze(-1)).pow(2).sum([-2, -1])


def _precision_to_scale_tril(precision):
    """The Cholesky factor of the inverse: that of the flipped matrix, flipped back and inverted."""
    flipped = weir.linalg.cholesky(precision.flip((-2, -1)))
    upper = flipped.flip((-2, -1)).transpose(-2, -1)
    return weir.linalg.solve_triangular(upper, weir.eye(precision.shape[-1], dtype=precision.dtype).expand(precision.shape), upper=False)


def _half_log_det(factor):
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


_MATRICES = {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
             "scale_tril": constraints.lower_cholesky}


class MultivariateNormal(Distribution):
    """Vectors with mean `loc`, and one of covariance, precision and the covariance's Cholesky factor."""

    arg_constraints = {"loc": constraints.real_vector, **_MATRICES}
    support, has_rsample = constraints.real_vector, True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = tuple(weir.broadcast_shapes(tuple(matrix.shape)[:-2], tuple(loc.shape)[:-1]))
        setattr(self, name, matrix.expand(batch + tuple(matrix.shape)[-2:]))
        self.loc = loc.expand(batch + tuple(loc.shape)[-1:])
        super().__init__(batch, tuple(self.loc.shape)[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else (
            weir.linalg.cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix))

    def expand(self, batch_shape, _instance=None):
        square = tuple(self.event_shape) * 2
        new, shape = self._fields(batch_shape, _instance, MultivariateNormal, "loc", *_MATRICES, tails={
            "loc": self.event_shape, **{n: square for n in _MATRICES}})
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        super(MultivariateNormal, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _square(self, t):
        return t.expand(tuple(self._batch_shape) + tuple(self._event_shape) * 2)

    @lazy_property
    def scale_tril(self):
        return self._square(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._square(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        return self._square(weir.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(tuple(self._batch_shape) + tuple(self._event_shape))

    def rsample(self, sample_shape=Size()):
        eps = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        m = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + m) - _half_log_det(self._unbroadcasted_scale_tril)

    def entropy(self):
        h = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + _half_log_det(self._unbroadcasted_scale_tril)
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """A normal whose covariance is cov_factor cov_factor^T + diag(cov_diag)."""

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support, has_rsample = constraints.real_vector, True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1 or cov_factor.dim() < 2:
            raise ValueError("loc must be at least one-dimensional, cov_factor at least two-dimensional")
        event = tuple(loc.shape)[-1:]
        if tuple(cov_factor.shape)[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if tuple(cov_diag.shape)[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = tuple(weir.broadcast_shapes(tuple(loc.shape)[:-1], tuple(cov_factor.shape)[:-2], tuple(cov_diag.shape)[:-1]))
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + tuple(cov_factor.shape)[-2:])
        self._capacitance_tril = self._capacitance()
        super().__init__(batch, event, validate_args=validate_args)

    def _capacitance(self):
        """The Cholesky factor of I + W^T D^-1 W."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        return weir.linalg.cholesky(scaled @ self.cov_factor + weir.eye(self.cov_factor.shape[-1], dtype=self.loc.dtype))

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, LowRankMultivariateNormal, "loc", "cov_factor", "cov_diag", tails={
            "loc": self.event_shape, "cov_diag": self.event_shape, "cov_factor": tuple(self.cov_factor.shape)[-2:]})
        new._capacitance_tril = new._capacitance()
        super(LowRankMultivariateNormal, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self):
        return self.cov_factor.pow(2).sum(-1) + self.cov_diag

    @lazy_property
    def scale_tril(self):
        return weir.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def covariance_matrix(self):
        return self.cov_factor @ self.cov_factor.mT + weir.diag_embed(self.cov_diag)

    @lazy_property
    def precision_matrix(self):
        a = _solve_lower(self._capacitance_tril, self.cov_factor.mT / self.cov_diag.unsqueeze(-2))
        return weir.diag_embed(self.cov_diag.reciprocal()) - a.mT @ a

    def rsample(self, sample_shape=Size()):
        shape = tuple(self._extended_shape(sample_shape))
        w = _standard_normal(shape[:-1] + tuple(self.cov_factor.shape)[-1:], self.loc.dtype)
        d = _standard_normal(shape, self.loc.dtype)
        return self.loc + _batch_mv(self.cov_factor, w) + self.cov_diag.sqrt() * d

    def _log_det(self):
        return 2 * _half_log_det(self._capacitance_tril) + self.cov_diag.log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diff = value - self.loc
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        m = (diff.pow(2) / self.cov_diag).sum(-1) - _batch_mahalanobis(self._capacitance_tril, _batch_mv(scaled, diff))
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + m)

    def entropy(self):
        h = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return h if len(self._batch_shape) == 0 else h.expand(self._batch_shape)


class Wishart(ExponentialFamily):
    """Sums of outer products of `df` normal vectors: positive definite matrices."""

    arg_constraints = {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                       "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(0)}
    support, has_rsample, _mean_carrier_measure = constraints.positive_definite, True, 0

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {k: v for k, v in given.items() if v is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = df if isinstance(df, weir.Tensor) else weir.tensor(float(df), dtype=matrix.dtype)
        batch, event = tuple(weir.broadcast_shapes(tuple(df.shape), tuple(matrix.shape)[:-2])), tuple(matrix.shape)[-2:]
        self.df = df.expand(batch)
        if bool((self.df <= event[-1] - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, matrix.expand(batch + event))
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else (
            weir.linalg.cholesky(matrix) if name == "covariance_matrix" else _precision_to_scale_tril(matrix))
        self._chi2 = self._diagonal()

    def _diagonal(self):
        return Chi2(self.df.unsqueeze(-1) - weir.arange(self._event_shape[-1], dtype=self.df.dtype).expand(
            tuple(self._batch_shape) + (-1,)))

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, Wishart, "df", *_MATRICES, tails={n: self.event_shape for n in _MATRICES})
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        super(Wishart, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        new._chi2 = new._diagonal()
        return new

    def _square(self, t):
        return t.expand(tuple(self._batch_shape) + tuple(self._event_shape))

    @lazy_property
    def scale_tril(self):
        return self._square(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self._square(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        return self._square(weir.cholesky_inverse(self._unbroadcasted_scale_tril))

    mean = property(lambda self: self.df.view(tuple(self._batch_shape) + (1, 1)) * self.covariance_matrix)

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = weir.where(factor <= 0, weir.full_like(factor, math.nan), factor)
        return factor.view(tuple(self._batch_shape) + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view(tuple(self._batch_shape) + (1, 1)) * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett(self, sample_shape):
        """Draws by Bartlett's decomposition."""
        p, dtype = self._event_shape[-1], self.df.dtype
        noise = weir.diag_embed(self._chi2.rsample(sample_shape).sqrt().clamp(min=weir.finfo(dtype).eps))
        i, j = weir.tril_indices(p, p, offset=-1)
        noise[..., i, j] = weir.randn(tuple(sample_shape) + tuple(self._batch_shape) + (p * (p - 1) // 2,), dtype=dtype)
        chol = self._unbroadcasted_scale_tril @ noise
        return chol @ chol.mT

    def rsample(self, sample_shape=Size(), max_try_correction=10):
        """Draws; singular ones are drawn again, at most `max_try_correction` times."""
        def over_batch(checked):
            return checked.amax(tuple(-1 - i for i in range(len(self._batch_shape)))) if self._batch_shape else checked
        sample = self._bartlett(sample_shape)
        # The first check of PyTorch's takes the regular matrices for singular ones, so that all are drawn twice: seeds agree only if they are.
        again = over_batch(self.support.check(sample))
        if bool(again.any()):
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(10 if max_try_correction is None else max_try_correction):
                new = self._bartlett(again[again].shape)
                sample[again] = new
                again[again.clone()] = over_batch(~self.support.check(new))
                if not bool(again.any()):
                    break
        return sample

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        return (-nu * (p * math.log(2) / 2 + _half_log_det(self._unbroadcasted_scale_tril)) - weir.mvlgamma(nu / 2, p=p)
                + (nu - p - 1) / 2 * weir.linalg.slogdet(value).logabsdet
                - weir.cholesky_solve(value, self._unbroadcasted_scale_tril).diagonal(dim1=-2, dim2=-1).sum(dim=-1) / 2)

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        digammas = weir.digamma((nu.unsqueeze(-1) - weir.arange(p, dtype=nu.dtype)) / 2).sum(-1)
        return ((p + 1) * (p * math.log(2) / 2 + _half_log_det(self._unbroadcasted_scale_tril)) + weir.mvlgamma(nu / 2, p=p)
                - (nu - p - 1) / 2 * digammas + nu * p / 2)

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-weir.linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + weir.mvlgamma(half, p)


class LKJCholesky(Distribution):
    """Cholesky factors of random correlation matrices. Source: Lewandowski, Kurowicka and Joe 2009."""

    arg_constraints, support = {"concentration": constraints.positive}, constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration = concentration if isinstance(concentration, weir.Tensor) else weir.tensor(float(concentration))
        super().__init__(self.concentration.size(), (dim, dim), validate_args)
        self._beta = self._rows()

    def _rows(self):
        offset = weir.arange(self.dim - 1, dtype=self.concentration.dtype)
        offset = weir.cat([weir.zeros(1, dtype=offset.dtype), offset])
        top = self.concentration + 0.5 * (self.dim - 2)
        return Beta(offset + 0.5, top.unsqueeze(-1) - 0.5 * offset)

    def expand(self, batch_shape, _instance=None):
        new, shape = self._fields(batch_shape, _instance, LKJCholesky, "concentration")
        new.dim = self.dim
        super(LKJCholesky, new).__init__(shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        new._beta = self._beta.expand(tuple(shape) + (self.dim,))
        return new

    def sample(self, sample_shape=Size()):
        """By the onion method."""
        with weir.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            u = weir.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
            u = u / u.norm(dim=-1, keepdim=True)
            u = weir.where(weir.arange(self.dim).view(-1, 1) == 0, weir.zeros_like(u), u)
            w = weir.sqrt(y) * u
            diagonal = weir.clamp(1 - weir.sum(w**2, dim=-1), min=weir.finfo(w.dtype).tiny).sqrt()
            return w + weir.diag_embed(diagonal)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - weir.arange(2, self.dim + 1, dtype=self.concentration.dtype)
        unnormalized = weir.sum(order * diagonal.log(), dim=-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        return unnormalized - (0.5 * n * math.log(math.pi) + weir.mvlgamma(alpha - 0.5, n) - weir.lgamma(alpha) * n)


class Independent(Distribution):
    """A distribution whose last batch dims count as dims of the event."""

    arg_constraints: dict = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        n = reinterpreted_batch_ndims
        if n > len(base_distribution.batch_shape):
            raise ValueError("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                             f"{n} vs {len(base_distribution.batch_shape)}")
        shape = tuple(base_distribution.batch_shape) + tuple(base_distribution.event_shape)
        event = n + len(base_distribution.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        super().__init__(shape[:len(shape) - event], shape[len(shape) - event:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Independent, _instance)
        new.base_dist = self.base_dist.expand(tuple(batch_shape) + tuple(self.event_shape)[:self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        super(Independent, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    has_enumerate_support = property(
        lambda self: False if self.reinterpreted_batch_ndims > 0 else self.base_dist.has_enumerate_support)

    @constraints.dependent_property
    def support(self):
        n = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, n) if n else self.base_dist.support

    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    def sample(self, sample_shape=Size()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=Size()):
        return self.base_dist.rsample(sample_shape)

    def _sum(self, x):
        from .utils import _sum_rightmost
        return _sum_rightmost(x, self.reinterpreted_batch_ndims)

    def log_prob(self, value):
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self):
        return self._sum(self.base_dist.entropy())

    def enumerate_support(self, expand=True):
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamily(Distribution):
    """One of the distributions of the last batch dim, chosen by a Categorical."""

    arg_constraints: dict = {}

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        mixture, batch = tuple(mixture_distribution.batch_shape), tuple(component_distribution.batch_shape)[:-1]
        for a, b in zip(reversed(mixture), reversed(batch)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"`mixture_distribution.batch_shape` ({mixture}) is not compatible with "
                                 f"`component_distribution.batch_shape`({batch})")
        if mixture_distribution.logits.shape[-1] != component_distribution.batch_shape[-1]:
            raise ValueError("`mixture_distribution component` does not equal `component_distribution.batch_shape[-1]`")
        self._num_component = component_distribution.batch_shape[-1]
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(tuple(batch_shape) + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        super(MixtureSameFamily, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _weights(self):
        p = self.mixture_distribution.probs
        return p.reshape(tuple(p.shape) + (1,) * self._event_ndims)

    @property
    def mean(self):
        return weir.sum(self._weights() * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self):
        dim, weights = -1 - self._event_ndims, self._weights()
        within = weir.sum(weights * self.component_distribution.variance, dim=dim)
        return within + weir.sum(weights * (self.component_distribution.mean - self.mean.unsqueeze(dim)).pow(2.0), dim=dim)

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x):
        return weir.sum(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        return weir.logsumexp(self.component_distribution.log_prob(self._pad(x))
                              + weir.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape=Size()):
        with weir.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(tuple(chosen.shape) + (1,) * (self._event_ndims + 1))
            shape = tuple(chosen.shape) + (1,) + tuple(self.event_shape)
            return weir.gather(samples, dim, index.expand(shape)).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
