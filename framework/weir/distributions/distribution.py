"""The base of all distributions. Source: torch.distributions.Distribution."""
import weir
from weir import Size, Tensor

from . import constraints
from .utils import lazy_on_class, lazy_property


class Distribution:
    """A batch of distributions: `batch_shape` of them, each over values of `event_shape`.

    With validate_args (the default), parameters outside of `arg_constraints` and values outside of `support` raise ValueError.
    """

    has_rsample, has_enumerate_support = False, False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=Size(), event_shape=Size(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self):
        try:
            known = self.arg_constraints
        except NotImplementedError:
            return
        for name, constraint in known.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_on_class):
                continue  # the other one of probs and logits was given
            value = getattr(self, name)
            valid = constraint.check(value)
            if not bool(weir.as_tensor(valid).all()):
                raise ValueError(f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                                 f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}")

    def expand(self, batch_shape, _instance=None):
        """The same distributions, broadcast to a batch shape."""
        raise NotImplementedError

    def _fields(self, batch_shape, _instance, base, *names, tails=None):
        """An instance of the same class with the named parameters broadcast to batch_shape (+ an event tail)."""
        new = self._get_checked_instance(base, _instance)
        batch_shape = Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                tail = (tails or {}).get(name, ())
                new.__dict__[name] = getattr(self, name).expand(tuple(batch_shape) + tuple(tail))
        return new, batch_shape

    @property
    def batch_shape(self):
        return self._batch_shape

    @property
    def event_shape(self):
        return self._event_shape

    @property
    def arg_constraints(self):
        raise NotImplementedError

    @property
    def support(self):
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=Size()):
        """Draws without history. Shape: sample_shape + batch_shape + event_shape."""
        with weir.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=Size()):
        """Draws through which gradients flow to the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        return self.sample(Size((n,)))

    def log_prob(self, value):
        """The logarithm of the density, or probability, at value."""
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values, along a new first dim."""
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def perplexity(self):
        return weir.exp(self.entropy())

    def _extended_shape(self, sample_shape=Size()):
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value):
        """ValueError unless value is a tensor that broadcasts to the shapes and lies in the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if tuple(value.shape)[value.dim() - events:] != tuple(self._event_shape):
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{value.size()} vs {self._event_shape}.")
        for i, j in zip(reversed(tuple(value.shape)), reversed(tuple(self._batch_shape) + tuple(self._event_shape))):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.size()} vs "
                                 f"{Size(tuple(self._batch_shape) + tuple(self._event_shape))}.")
        try:
            support = self.support
        except NotImplementedError:
            return
        if not bool(weir.as_tensor(support.check(value)).all()):
            raise ValueError(f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                             f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def _get_checked_instance(self, cls, _instance=None):
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                                      "must also define a custom .expand() method.")
        return type(self).__new__(type(self)) if _instance is None else _instance

    def __repr__(self):
        try:
            names = [k for k in self.arg_constraints if k in self.__dict__]
        except NotImplementedError:
            names = []
        parts = [f"{n}: {getattr(self, n) if weir.as_tensor(getattr(self, n)).numel() == 1 else getattr(self, n).size()}" for n in names]
        return f"{type(self).__name__}({', '.join(parts)})"


class ExponentialFamily(Distribution):
    """Densities of the form exp(t(x) theta - F(theta) + k(x)); the entropy follows from the gradient of F."""

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = weir.autograd.grad(normalizer.sum(), params, create_graph=True)
        result = -self._mean_carrier_measure + normalizer
        for p, g in zip(params, gradients):
            result = result - (p * g).reshape(tuple(self._batch_shape) + (-1,)).sum(-1)
        return result


__all__ = ["Distribution", "ExponentialFamily", "lazy_property"]
