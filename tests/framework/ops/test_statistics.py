"""Covariance and correlation against PyTorch."""

import pytest
import torch
from twins import assert_same

X = torch.randn(3, 5, generator=torch.manual_seed(0), requires_grad=True)
COUNTS, WEIGHTS = torch.tensor([1, 2, 0, 3, 1]), torch.tensor([0.5, 1.0, 0.0, 2.0, 0.25])
CALLS = {
    "cov": lambda t, x, f, a: t.cov(x), "of a vector": lambda t, x, f, a: x[0].cov(), "uncorrected": lambda t, x, f, a: t.cov(x, correction=0),
    "counts": lambda t, x, f, a: t.cov(x, fweights=f), "weights": lambda t, x, f, a: t.cov(x, aweights=a), "both": lambda t, x, f, a: t.cov(x, fweights=f, aweights=a),
    "no freedom": lambda t, x, f, a: t.cov(x, correction=9), "negative counts": lambda t, x, f, a: t.cov(x, fweights=-f),
    "negative weights": lambda t, x, f, a: t.cov(x, aweights=-a), "no weight": lambda t, x, f, a: t.cov(x, fweights=f * 0), "wrong kinds": lambda t, x, f, a: t.cov(x, fweights=a),
    "too few": lambda t, x, f, a: t.cov(x, fweights=f[:2]), "3-d": lambda t, x, f, a: t.cov(x.unsqueeze(0)), "truths": lambda t, x, f, a: t.cov(x > 0),
    "whole numbers": lambda t, x, f, a: t.cov((x * 4).long()), "out": lambda t, x, f, a: t.cov(x, out=t.ones(3, 3)), "corrcoef": lambda t, x, f, a: t.corrcoef(x),
    "of one": lambda t, x, f, a: t.corrcoef(x[0]), "constant": lambda t, x, f, a: t.corrcoef(x * 0), "no observations": lambda t, x, f, a: t.cov(x[:, :0]),
    "complex": lambda t, x, f, a: t.corrcoef(t.complex(x.detach(), x.detach().flip(0))),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore:cov")
def test_as_pytorch(name):
    assert_same(CALLS[name], X, COUNTS, WEIGHTS, strides=False, order=1, what=name)


@pytest.mark.parametrize("weights", [dict(fweights=torch.tensor(4)), dict(aweights=torch.tensor(4.0, dtype=torch.float64)), dict(aweights=torch.ones(1, dtype=torch.float64))])
def test_cov_of_one_observation_takes_no_weight_for_its_mean(weights):
    (name, w), = weights.items()
    for x in (torch.tensor([3], dtype=torch.int32), torch.tensor(2.0)):
        assert_same(lambda t, x, w: t.cov(x, correction=0, **{name: w}), x, w)
