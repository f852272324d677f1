"""Distributions with parameters that gradients flow to. Source: torch.distributions.

Draws of normal, uniform and what is made of them follow PyTorch's generator; gamma, Poisson, binomial and multinomial
draws are as random, but other numbers.
"""
from . import constraints, transforms  # noqa: F401
from .constraint_registry import biject_to, transform_to  # noqa: F401
from .continuous import Cauchy, Exponential, GeneralizedPareto, Laplace, Normal, Uniform, VonMises  # noqa: F401
from .categorical import Categorical, Multinomial, OneHotCategorical, OneHotCategoricalStraightThrough  # noqa: F401
from .discrete import Bernoulli, Binomial, ContinuousBernoulli, Geometric, NegativeBinomial, Poisson  # noqa: F401
from .distribution import Distribution, ExponentialFamily  # noqa: F401
from .gamma_family import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT  # noqa: F401
from .kl import _KL_REGISTRY, kl_divergence, register_kl  # noqa: F401
from .multivariate import (Independent, LKJCholesky, LowRankMultivariateNormal, MixtureSameFamily,  # noqa: F401
                           MultivariateNormal, Wishart)
from .transformed import (ExpRelaxedCategorical, Gumbel, HalfCauchy, HalfNormal, InverseGamma, Kumaraswamy,  # noqa: F401
                          LogisticNormal, LogitRelaxedBernoulli, LogNormal, Pareto, RelaxedBernoulli,
                          RelaxedOneHotCategorical, TransformedDistribution, Weibull)
from .transforms import *  # noqa: F401,F403

#: module of PyTorch -> classes that it holds
_HOMES = {
    "bernoulli": "Bernoulli", "beta": "Beta", "binomial": "Binomial", "cauchy": "Cauchy",
    "chi2": "Chi2", "continuous_bernoulli": "ContinuousBernoulli", "dirichlet": "Dirichlet", "exp_family": "ExponentialFamily",
    "exponential": "Exponential", "fishersnedecor": "FisherSnedecor", "gamma": "Gamma", "geometric": "Geometric",
    "gumbel": "Gumbel", "half_cauchy": "HalfCauchy", "half_normal": "HalfNormal", "independent": "Independent",
    "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy", "laplace": "Laplace", "lkj_cholesky": "LKJCholesky",
    "log_normal": "LogNormal", "logistic_normal": "LogisticNormal", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily", "multinomial": "Multinomial", "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial", "normal": "Normal", "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
    "pareto": "Pareto", "poisson": "Poisson", "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli",
    "relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical", "studentT": "StudentT",
    "transformed_distribution": "TransformedDistribution", "uniform": "Uniform", "von_mises": "VonMises", "weibull": "Weibull",
    "wishart": "Wishart", "generalized_pareto": "GeneralizedPareto",
}


def _enter_homes():
    import sys

    from .._homes import enter
    from .multivariate import _batch_mahalanobis, _batch_mv, _precision_to_scale_tril
    enter(sys.modules[__name__], _HOMES, {k: v for k, v in globals().items() if not k.startswith("__")})
    multivariate_normal.__dict__.update(_batch_mahalanobis=_batch_mahalanobis, _batch_mv=_batch_mv,  # noqa: F821
                                        _precision_to_scale_tril=_precision_to_scale_tril)


_enter_homes()
__all__ = [n for names in _HOMES.values() for n in names.split()] + [
    "Categorical", "Distribution", "biject_to",
    "kl_divergence", "register_kl", "transform_to"] + transforms.__all__
