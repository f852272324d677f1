"""From constraints to transforms that map all reals into them. Source: torch.distributions.constraint_registry."""
from . import constraints as c
from . import transforms as t


class ConstraintRegistry:
    """type of constraint -> function of a constraint that gives a transform."""

    def __init__(self):
        self._registry = {}

    def register(self, constraint, factory=None):
        """Enters factory, or decorates it, for a constraint's type."""
        if factory is None:
            return lambda f: self.register(constraint, f)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, c.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint):
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _both(*kinds):
    def enter(factory):
        for registry in (biject_to, transform_to):
            for kind in kinds:
                registry.register(kind, factory)
        return factory
    return enter


def _interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low == 0 and high == 1:
        return t.SigmoidTransform()
    return t.ComposeTransform([t.SigmoidTransform(), t.AffineTransform(low, high - low)])


_both(c.real)(lambda _: t.identity_transform)
_both(c.positive, c.nonnegative)(lambda _: t.ExpTransform())
_both(c.greater_than, c.greater_than_eq)(lambda k: t.ComposeTransform([t.ExpTransform(), t.AffineTransform(k.lower_bound, 1)]))
_both(c.less_than)(lambda k: t.ComposeTransform([t.ExpTransform(), t.AffineTransform(k.upper_bound, -1)]))
_both(c.interval, c.half_open_interval)(_interval)
transform_to.register(c.lower_cholesky, lambda _: t.LowerCholeskyTransform())
for _kind in (c.positive_definite, c.positive_semidefinite):
    transform_to.register(_kind, lambda _: t.PositiveDefiniteTransform())
_both(c.corr_cholesky)(lambda _: t.CorrCholeskyTransform())
biject_to.register(c.simplex, lambda _: t.StickBreakingTransform())
transform_to.register(c.simplex, lambda _: t.SoftmaxTransform())
for _registry in (biject_to, transform_to):
    _registry.register(c.independent, lambda k, r=_registry: t.IndependentTransform(r(k.base_constraint), k.reinterpreted_batch_ndims))
    _registry.register(c.cat, lambda k, r=_registry: t.CatTransform([r(x) for x in k.cseq], k.dim, k.lengths))
    _registry.register(c.stack, lambda k, r=_registry: t.StackTransform([r(x) for x in k.cseq], k.dim))
# `positive` and `nonnegative` are a greater_than and a greater_than_eq at 0: exp alone serves these.
_shift = biject_to._registry[c._GreaterThan]


def _greater(k):
    return t.ExpTransform() if isinstance(k.lower_bound, (int, float)) and k.lower_bound == 0 else _shift(k)


_both(c.greater_than, c.greater_than_eq)(_greater)
