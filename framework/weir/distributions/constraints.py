"""Sets of values that parameters and samples lie in: `constraint.check(value)`. Source: torch.distributions.constraints."""
import weir


class Constraint:
    """A set. `is_discrete`: of separate values. `event_dim`: how many last dims one member takes."""

    is_discrete, event_dim = False, 0

    def check(self, value):
        """Which members of the batch lie in the set. Shape: value's without the event dims."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """Depends on other parameters, so cannot be checked by itself."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self):
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of an instance that is a constraint, and on the class the news that it depends."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A constraint whose last batch dims belong to the event: all must hold."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if result.dim() < n:
            raise ValueError(f"Expected value.dim() >= {self.base_constraint.event_dim + n} but got {value.dim()}")
        return result.reshape(tuple(result.shape)[:result.dim() - n] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What components of a mixture accept, asked of a value without their batch dim: all of them must."""

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint

    is_discrete = property(lambda self: self.base_constraint.is_discrete)
    event_dim = property(lambda self: self.base_constraint.event_dim)

    def check(self, value):
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return result.reshape(tuple(result.shape)[:value.dim() - self.event_dim] + (-1,)).all(-1)

    def __repr__(self):
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


def _simple(name, doc, check, is_discrete=False, event_dim=0, base=None):
    return type(name, (base or Constraint,), {"is_discrete": is_discrete, "event_dim": event_dim, "__doc__": doc,
                                      "check": lambda self, value: check(value)})


class _Bounded(Constraint):
    """Numbers between bounds given as attributes."""

    names: tuple = ()

    def __init__(self, *bounds, **named):
        given = dict(zip(self.names, bounds)) | named
        if len(bounds) + len(named) != len(self.names) or set(given) != set(self.names):
            raise TypeError(f"{type(self).__name__}: expected {', '.join(self.names)}")
        vars(self).update(given)
        super().__init__()

    def __repr__(self):
        return f"{type(self).__name__.lstrip('_')}({', '.join(f'{n}={getattr(self, n)}' for n in self.names)})"


class _IntegerInterval(_Bounded):
    names, is_discrete = ("lower_bound", "upper_bound"), True

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Bounded):
    names, is_discrete = ("upper_bound",), True

    def check(self, value):
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Bounded):
    names, is_discrete = ("lower_bound",), True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_Bounded):
    names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Bounded):
    names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Bounded):
    names = ("upper_bound",)

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Bounded):
    names = ("lower_bound", "upper_bound")

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    names = ("lower_bound", "upper_bound")

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Multinomial(Constraint):
    """Counts that sum to at most upper_bound."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, x):
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


class _Cat(Constraint):
    """Constraints side by side along a dim, each for `lengths` of it."""

    def __init__(self, cseq, dim=0, lengths=None):
        self.cseq, self.dim = list(cseq), dim
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.cseq)

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self):
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        parts = value.split(self.lengths, self.dim)
        return weir.cat([c.check(v) for c, v in zip(self.cseq, parts)], self.dim)


class _Stack(Constraint):
    """A constraint for each slice of a dim."""

    def __init__(self, cseq, dim=0):
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self):
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        return weir.stack([c.check(v) for c, v in zip(self.cseq, value.unbind(self.dim))], self.dim)


def _lower_triangular(value):
    return (value.tril() == value).flatten(-2).all(-1)


def _positive_diagonal(value):
    return (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


def _unit_rows(value):
    tolerance = weir.finfo(value.dtype).eps * value.size(-1) * 10
    return (value.norm(dim=-1) - 1).abs().le(tolerance).all(-1)


def _symmetric(value):
    if value.dim() < 2 or value.shape[-1] != value.shape[-2]:
        return weir.zeros(tuple(value.shape)[:-2], dtype=weir.bool)
    return weir.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


def _positive_definite(value):
    symmetric = _symmetric(value)
    if not bool(symmetric.all()):
        return symmetric
    return weir.linalg.cholesky_ex(value).info.eq(0)


def _positive_semidefinite(value):
    symmetric = _symmetric(value)
    if not bool(symmetric.all()):
        return symmetric
    return weir.linalg.eigvalsh(value).ge(0).all(-1)


_Boolean = _simple("_Boolean", "0 or 1.", lambda v: (v == 0) | (v == 1), True)
_OneHot = _simple("_OneHot", "Vectors of zeros with a single 1.",
                  lambda v: ((v == 0) | (v == 1)).all(-1) & v.sum(-1).eq(1), True, 1)
_Real = _simple("_Real", "Numbers that are not NaN.", lambda v: v == v)
_Simplex = _simple("_Simplex", "Vectors of nonnegative numbers that sum to 1.",
                   lambda v: (v >= 0).all(dim=-1) & ((v.sum(-1) - 1).abs() < 1e-6), False, 1)
_LowerTriangular = _simple("_LowerTriangular", "Matrices with zeros above the diagonal.", _lower_triangular, False, 2)
_LowerCholesky = _simple("_LowerCholesky", "Lower triangular matrices with a positive diagonal.",
                         lambda v: _lower_triangular(v) & _positive_diagonal(v), False, 2)
_CorrCholesky = _simple("_CorrCholesky", "Lower Cholesky factors with rows of length 1.",
                        lambda v: _unit_rows(v) & _lower_triangular(v) & _positive_diagonal(v), False, 2)
_Square = _simple("_Square", "Square matrices.", lambda v: weir.full(tuple(v.shape)[:-2], v.shape[-2] == v.shape[-1],
                                                                    dtype=weir.bool), False, 2)
_Symmetric = _simple("_Symmetric", "Symmetric matrices.", _symmetric, False, 2, _Square)
_PositiveDefinite = _simple("_PositiveDefinite", "Positive definite matrices.", _positive_definite, False, 2, _Symmetric)
_PositiveSemidefinite = _simple("_PositiveSemidefinite", "Positive semidefinite matrices.", _positive_semidefinite, False, 2, _Symmetric)

dependent, dependent_property, independent = _Dependent(), _DependentProperty, _IndependentConstraint
boolean, one_hot, real, simplex = _Boolean(), _OneHot(), _Real(), _Simplex()
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
integer_interval, positive, nonnegative = _IntegerInterval, _GreaterThan(0.0), _GreaterThanEq(0.0)
greater_than, greater_than_eq, less_than, interval = _GreaterThan, _GreaterThanEq, _LessThan, _Interval
half_open_interval, multinomial, cat, stack = _HalfOpenInterval, _Multinomial, _Cat, _Stack
unit_interval, real_vector = _Interval(0.0, 1.0), independent(real, 1)
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_definite, positive_semidefinite = _PositiveDefinite(), _PositiveSemidefinite()

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack",
    "symmetric", "unit_interval",
]
