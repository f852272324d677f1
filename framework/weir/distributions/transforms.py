"""Invertible functions with the logarithm of their Jacobian's determinant. Source: torch.distributions.transforms."""
import math

import weir
from weir.nn import functional as F

from . import constraints
from .transforms_base import (CatTransform, ComposeTransform, IndependentTransform, ReshapeTransform, StackTransform,  # noqa: F401
                              Transform, _InverseTransform, identity_transform)
from .utils import broadcast_all, tril_matrix_to_vec, vec_to_tril_matrix


class _Fixed(Transform):
    """A transform without parameters: two of a class are equal."""

    bijective, sign = True, +1

    def __eq__(self, other):
        return type(self) is type(other)

    __hash__ = Transform.__hash__


class ExpTransform(_Fixed):
    """y = exp(x)"""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """y = x ** exponent"""

    domain, codomain, bijective = constraints.positive, constraints.positive, True

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size)

    sign = property(lambda self: self.exponent.sign())

    def __eq__(self, other):
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = Transform.__hash__

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return weir.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def _clipped_sigmoid(x):
    f = weir.finfo(x.dtype)
    return weir.clamp(weir.sigmoid(x), min=f.tiny, max=1.0 - f.eps)


class SigmoidTransform(_Fixed):
    """y = 1 / (1 + exp(-x))"""

    domain, codomain = constraints.real, constraints.unit_interval

    def _call(self, x):
        return _clipped_sigmoid(x)

    def _inverse(self, y):
        f = weir.finfo(y.dtype)
        y = y.clamp(min=f.tiny, max=1.0 - f.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(_Fixed):
    """y = log(1 + exp(x)), x itself from 20 on"""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return F.softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -F.softplus(-x)


class TanhTransform(_Fixed):
    """y = tanh(x)"""

    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return weir.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(_Fixed):
    """y = |x|, of which the inverse is taken to be y"""

    domain, codomain, bijective = constraints.real, constraints.positive, False
    sign = property(lambda self: Transform.sign.fget(self))

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class AffineTransform(Transform):
    """y = loc + scale * x, over events of event_dim dims"""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)

    def _reals(self):
        return constraints.real if self._event_dim == 0 else constraints.independent(constraints.real, self._event_dim)

    domain = constraints.dependent_property(lambda self: self._reals(), is_discrete=False)
    codomain = constraints.dependent_property(lambda self: self._reals(), is_discrete=False)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else AffineTransform(self.loc, self.scale, self.event_dim, cache_size)

    def __eq__(self, other):
        if not isinstance(other, AffineTransform):
            return False
        same = [a is b or bool((weir.as_tensor(a) == weir.as_tensor(b)).all())
                for a, b in ((self.loc, other.loc), (self.scale, other.scale))]
        return all(same)

    __hash__ = Transform.__hash__

    @property
    def sign(self):
        if isinstance(self.scale, (int, float)):
            return 1 if self.scale > 0 else -1 if self.scale < 0 else 0
        return self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, (int, float)):
            result = weir.full_like(x, math.log(abs(self.scale)))
        else:
            result = weir.abs(self.scale).log()
        shape = tuple(x.shape)
        if self.event_dim:
            result = result.view(tuple(result.shape)[:-self.event_dim] + (-1,)).sum(-1)
            shape = shape[:-self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape):
        return weir.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class CorrCholeskyTransform(Transform):
    """Vectors to Cholesky factors of correlation matrices, by tanh as partial correlations. Source: Lewandowski et al. 2009."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        x = weir.tanh(x)
        eps = weir.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + weir.eye(r.shape[-1], dtype=r.dtype)
        return r * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = 1 - weir.cumsum(y * y, dim=-1)
        y_vec = tril_matrix_to_vec(y, diag=-1)
        left_vec = tril_matrix_to_vec(F.pad(left[..., :-1], [1, 0], value=1), diag=-1)
        t = y_vec / left_vec.sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = 1 - (y * y).cumsum(dim=-1)
        rows = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        return rows - 2.0 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape):
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return tuple(shape)[:-1] + (n, n)

    def inverse_shape(self, shape):
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return tuple(shape)[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class SoftmaxTransform(_Fixed):
    """y = softmax(x), of which the inverse is taken to be log(y)"""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, False
    sign = Transform.sign

    def _call(self, x):
        e = (x - x.max(-1, True)[0]).exp()
        return e / e.sum(-1, True)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(_Fixed):
    """Vectors to shares of one more entry, each taking its part of what is left."""

    domain, codomain = constraints.real_vector, constraints.simplex
    sign = Transform.sign

    def _call(self, x):
        offset = x.shape[-1] + 1 - weir.ones(x.shape[-1], dtype=x.dtype).cumsum(-1)
        z = _clipped_sigmoid(x - offset.log())
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        cropped = y[..., :-1]
        offset = y.shape[-1] - weir.ones(cropped.shape[-1], dtype=y.dtype).cumsum(-1)
        left = weir.clamp(1 - cropped.cumsum(-1), min=weir.finfo(y.dtype).tiny)
        return cropped.log() - left.log() + offset.log()

    def log_abs_det_jacobian(self, x, y):
        offset = x.shape[-1] + 1 - weir.ones(x.shape[-1], dtype=x.dtype).cumsum(-1)
        x = x - offset.log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        return tuple(shape)[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        return tuple(shape)[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Fixed):
    """Matrices to lower triangular ones with a positive diagonal."""

    domain, codomain, bijective = constraints.independent(constraints.real, 2), constraints.lower_cholesky, False
    sign = Transform.sign

    def _call(self, x):
        return x.tril(-1) + weir.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y):
        return y.tril(-1) + weir.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(_Fixed):
    """Matrices to positive definite ones."""

    domain, codomain, bijective = constraints.independent(constraints.real, 2), constraints.positive_definite, False
    sign = Transform.sign

    def _call(self, x):
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(weir.linalg.cholesky(y))


class CumulativeDistributionTransform(Transform):
    """y = the distribution function of x."""

    bijective, codomain, sign = True, constraints.unit_interval, +1

    def __init__(self, distribution, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = constraints.dependent_property(lambda self: self.distribution.support)

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CumulativeDistributionTransform(self.distribution, cache_size)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)


__all__ = ["AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
           "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
           "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform",
           "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform", "identity_transform"]
