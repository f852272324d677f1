"""Expanded distributions check their arguments as the ones they come from, beside PyTorch's."""
import pytest
import torch

import weir

LIBRARIES = pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])


@LIBRARIES
@pytest.mark.parametrize("checks", [True, False])
@pytest.mark.parametrize("make", [
    lambda d, o, c: d.Normal(o, o, validate_args=c), lambda d, o, c: d.Gamma(o, o, validate_args=c),
    lambda d, o, c: d.HalfCauchy(o, validate_args=c), lambda d, o, c: d.Categorical(o, validate_args=c),
    lambda d, o, c: d.Independent(d.Normal(o, o), 1, validate_args=c), lambda d, o, c: d.Dirichlet(o, validate_args=c),
    lambda d, o, c: d.LogNormal(o, o, validate_args=c), lambda d, o, c: d.Multinomial(3, o, validate_args=c),
    lambda d, o, c: d.TransformedDistribution(d.Normal(o, o), [d.ExpTransform()], validate_args=c)])
def test_expanding_keeps_the_checks(t, checks, make):
    d = make(t.distributions, t.ones(2), checks)
    assert d.expand((3, *d.batch_shape))._validate_args is checks


@LIBRARIES
@pytest.mark.parametrize("kind", ["HalfCauchy", "HalfNormal", "LogNormal"])
def test_parameters_that_the_base_holds_are_checked(t, kind):
    arguments = (0.0, -1.0) if kind == "LogNormal" else (-1.0,)
    with pytest.raises(ValueError, match="scale"):
        getattr(t.distributions, kind)(*arguments, validate_args=True)


@LIBRARIES
def test_a_subclass_may_answer_for_its_base(t):
    class Answering(t.distributions.Independent):
        @property
        def _validate_args(self):
            return self.base_dist._validate_args

        @_validate_args.setter
        def _validate_args(self, value):
            self.base_dist._validate_args = value

    d = Answering(t.distributions.Normal(t.zeros(2), t.ones(2)), 1)
    assert d.expand((3,)).batch_shape == (3,)
