"""Derivatives that are written down beside a formula: PyTorch's digits, in single, double and half precision."""

import pytest
import torch
from twins import assert_same

G = torch.Generator().manual_seed(0)
X, T = torch.randn(5, 4, generator=G) * 3, torch.rand(5, 4, generator=G)
INF = float("inf")
SUMS = {
    "rows": lambda t, x: t.logsumexp(x, 1), "kept": lambda t, x: t.logsumexp(x, (0, 1), keepdim=True), "columns": lambda t, x: t.logsumexp(x.t(), -1),
    "large": lambda t, x: t.logsumexp(x * 300, 0), "complex": lambda t, x: t.logsumexp(_wide(t, x) * (1 + 2j), 1), "one": lambda t, x: t.logsumexp(x[0, 0], 0),
    "infinities": lambda t, x: t.logsumexp(t.where(x > 1, -INF, x), 1), "empty": lambda t, x: t.logsumexp(x[:0], 0),
    "through a view": lambda t, x: t.logsumexp((x * 1).view(-1)[1:], 0), "no gradient": lambda t, x: t.logsumexp(x.detach(), 1),
}
LOSSES = {
    "mean": {}, "each": {"reduction": "none"}, "sum, weight": {"reduction": "sum", "weight": T[0]}, "positive": {"pos_weight": T[1] * 3},
    "both": {"pos_weight": T[1] * 3, "weight": T, "reduction": "none"}, "wide weight": {"weight": T[None]}, "wide positive": {"pos_weight": T[None]},
}


def _wide(t, x):
    return x if x.dtype == t.float64 else x.float()


@pytest.mark.parametrize("dtype, rtol", [(torch.float32, 1e-5), (torch.float64, 1e-13), (torch.float16, 2e-2), (torch.bfloat16, 5e-2)])
@pytest.mark.parametrize("name", SUMS)
def test_logsumexp(name, dtype, rtol):
    assert_same(SUMS[name], X.to(dtype).requires_grad_(), order=2 if dtype == torch.float64 else 1, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype, rtol", [(torch.float32, 1e-5), (torch.float64, 1e-12), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("soft", [False, True])
def test_cross_entropy_with_logits(name, soft, dtype, rtol):
    given = {key: value.to(dtype) if isinstance(value, torch.Tensor) else value for key, value in LOSSES[name].items()}
    keys = list(given)
    target = T.to(dtype).requires_grad_(soft)

    def loss(t, x, target, *values):
        return t.nn.functional.binary_cross_entropy_with_logits(x, target, **dict(zip(keys, values)))

    assert_same(loss, X.to(dtype).requires_grad_(), target, *given.values(), order=2 if dtype == torch.float64 else 1, rtol=rtol, atol=rtol / 10, what=name)


MARGINS = torch.tensor([-10.5, -9.5, -4.0, -0.5, 0.0, 0.7, 3.0, 8.0, 12.0])


@pytest.mark.parametrize("dtype, rtol", [(torch.float32, 1e-5), (torch.float64, 1e-12), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("scale", [1.0, -0.75])
def test_soft_margin(reduction, scale, dtype, rtol):
    target = (torch.ones(9) * scale).to(dtype)
    assert_same(lambda t, x, y: t.nn.functional.soft_margin_loss(x, y, reduction=reduction), MARGINS.to(dtype).requires_grad_(), target, rtol=rtol, atol=rtol / 100)


def test_soft_margin_overflows_in_halves_as_pytorch():
    target = torch.full((2,), 8.0, dtype=torch.float16)
    assert_same(lambda t, x, y: t.nn.functional.soft_margin_loss(x, y, reduction="sum"), torch.tensor([-1.3, -1.2], dtype=torch.float16).requires_grad_(), target, order=1)
