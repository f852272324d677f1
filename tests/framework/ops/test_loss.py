"""Cross entropy, also of a linear map's logits, negative log likelihood and the batch mean of kl_div, against PyTorch."""

import pytest
import torch
from twins import assert_same

torch.manual_seed(0)
X, W, B = torch.randn(5, 3), torch.randn(4, 3), torch.randn(4)
DEEP, DEEP_B = torch.randn(4, 2, 3), torch.randn(4, 2)
T, DEEP_T = torch.tensor([0, 3, 1, 2, 3]), torch.randint(0, 4, (5, 2))
P = torch.rand(5, 4).softmax(1)
linear = lambda t, *a, **k: t.nn.functional.linear_cross_entropy(*a, **k)  # noqa: E731

LINEAR = {
    "plain": (lambda t, x, w, b: linear(t, x, w, t.tensor(T.tolist())), X, W, B),
    "bias": (lambda t, x, w, b: linear(t, x, w, t.tensor(T.tolist()), linear_bias=b, reduction="none"), X, W, B),
    "weights": (lambda t, x, w, b: linear(t, x, w, t.tensor(T.tolist()), weight=b.detach().abs(), label_smoothing=0.2), X, W, B),
    "ignored": (lambda t, x, w, b: linear(t, x, w, t.tensor(T.tolist()), ignore_index=3, reduction="sum"), X, W, B),
    "one": (lambda t, x, w, b: linear(t, x[0], w, t.tensor(2), linear_bias=b), X, W, B),
    "probabilities": (lambda t, x, w, b: linear(t, x, w, t.tensor(P.tolist()), linear_bias=b), X, W, B),
    "deep": (lambda t, x, w, b: linear(t, x, w, t.tensor(DEEP_T.tolist()), linear_bias=b), X, DEEP, DEEP_B),
    "probabilities with ignore_index": (lambda t, x, w, b: linear(t, x, w, t.tensor(P.tolist()), ignore_index=1), X, W, B),
    "features": (lambda t, x, w, b: linear(t, x[:, :2], w, t.tensor(T.tolist())), X, W, B),
    "bias of another shape": (lambda t, x, w, b: linear(t, x, w, t.tensor(T.tolist()), linear_bias=b[:3]), X, W, B),
    "unbatched deep": (lambda t, x, w, b: linear(t, x[0], w, t.tensor(1)), X, DEEP, DEEP_B),
    "a vector of weights": (lambda t, x, w, b: linear(t, x, w[0], t.tensor(T.tolist())), X, W, B),
    "three axes": (lambda t, x, w, b: linear(t, x[None], w, t.tensor(T.tolist())), X, W, B),
    "no such reduction": (lambda t, x, w, b: linear(t, x, w, t.tensor(T.tolist()), reduction="median"), X, W, B),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_cross_entropy(name):
    call, *inputs = LINEAR[name]
    assert_same(call, *(x.clone().requires_grad_() for x in inputs), order=1, strides=False)


CROSS = {
    "smoothing above 1": lambda F, x, w, t: F.cross_entropy(x, t, label_smoothing=1.5),
    "smoothing below 0": lambda F, x, w, t: F.cross_entropy(x, t, label_smoothing=-0.5),
    "smoothing of no number": lambda F, x, w, t: F.cross_entropy(x, t, label_smoothing=float("nan")),
    "smoothing of no number, by probabilities": lambda F, x, w, t: F.cross_entropy(x, x.detach().softmax(1), label_smoothing=float("nan")),
    "integers of input's shape": lambda F, x, w, t: F.cross_entropy(x, x.detach().long()),
    "probabilities with ignore_index": lambda F, x, w, t: F.cross_entropy(x, x.detach().abs(), ignore_index=1),
    "probabilities, no such reduction": lambda F, x, w, t: F.cross_entropy(x, x.detach().abs(), reduction="median"),
    "weights that require grad": lambda F, x, w, t: F.cross_entropy(x, t, w),
    "nll_loss, weights that require grad": lambda F, x, w, t: F.nll_loss(x, t, w),
    "nll_loss, weights of another size": lambda F, x, w, t: F.nll_loss(x, t, w[:2]),
    "nll_loss of integers": lambda F, x, w, t: F.nll_loss(x.detach().long(), t),
    "nll_loss": lambda F, x, w, t: F.nll_loss(x, t, w.detach(), ignore_index=0),
    **{f"kl_div {r}": lambda F, x, w, t, r=r: F.kl_div(x, x.detach().softmax(1), reduction=r) for r in ("batchmean", "mean", "sum", "none", "median")},
    "kl_div of a number": lambda F, x, w, t: F.kl_div(x[0, 0], x[0, 0].detach().abs(), reduction="batchmean"),
    "kl_div of logarithms": lambda F, x, w, t: F.kl_div(x, x.detach() * 2, reduction="batchmean", log_target=True),
}


@pytest.mark.parametrize("name", CROSS)
def test_as_pytorch(name):
    torch.manual_seed(0)  # of some numbers a loss is so large that the cosine of it has few digits
    assert_same(lambda t, x, w: CROSS[name](t.nn.functional, x, w, t.tensor(T.tolist())), torch.randn(5, 4).requires_grad_(), B.abs().requires_grad_(), order=1)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(3, 4, 70, 90), (17000, 3), (40000, 1), (2, 5, 3)])
def test_losses_of_more_targets_than_a_task_takes(shape, reduction):
    x = torch.randn(shape, generator=torch.manual_seed(0), dtype=torch.float64, requires_grad=True)
    target = torch.randint(0, shape[1], (shape[0], *shape[2:]))
    target.view(-1)[::7] = -100
    for weight in (None, torch.rand(shape[1], dtype=torch.float64)):
        assert_same(lambda F, x, t, w: F.nn.functional.cross_entropy(x, t, w, reduction=reduction), x, target, weight, order=2)
    target.view(-1)[-1] = shape[1]
    assert_same(lambda F, x, t: F.nn.functional.nll_loss(x, t), x, target, order=0)
