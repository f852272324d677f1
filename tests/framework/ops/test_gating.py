"""Activations that are formulas over other ops, and losses over several, against PyTorch's."""

import pytest
import torch
import weir
from twins import assert_same

A, B, C = torch.randn(3, 4), torch.randn(3, 4), torch.rand(3, 4) + 0.1

CALLS = {
    "glu": (lambda F, a: F.glu(a), A), "glu of rows": (lambda F, a: F.glu(a[:2], 0), A), "glu of an odd axis": (lambda F, a: F.glu(a, 0), A), "glu of a number": (lambda F, a: F.glu(a[0, 0]), A),
    "glu of integers": (lambda F, a: F.glu(a.detach().long()), A), "softsign": (lambda F, a: F.softsign(a), A), "tanhshrink": (lambda F, a: F.tanhshrink(a), A),
    **{f"gaussian_nll {r}": (lambda F, a, b, v, r=r: F.gaussian_nll_loss(a, b, v, full=r == "sum", reduction=r), A, B, C) for r in ("mean", "sum", "none")},
    "gaussian_nll bounded": (lambda F, a, b, v: F.gaussian_nll_loss(a, b, v, eps=0.5), A, B, C), "gaussian_nll of less": (lambda F, a, b, v: F.gaussian_nll_loss(a, b, v - 1), A, B, C),
    "triplet": (lambda F, a, b, c: F.triplet_margin_loss(a, b, c, margin=0.5), A, B, C), "triplet swapped": (lambda F, a, b, c: F.triplet_margin_loss(a, b, c, p=1, swap=True, reduction="none"), A, B, C),
    "triplet without margin": (lambda F, a, b, c: F.triplet_margin_loss(a, b, c, margin=0), A, B, C), "triplet of other ranks": (lambda F, a, b, c: F.triplet_margin_loss(a, b[0], c), A, B, C),
    "multilabel_soft": (lambda F, a, b: F.multilabel_soft_margin_loss(a, (b > 0).float()), A, B), "multilabel_soft weighted": (lambda F, a, b, c: F.multilabel_soft_margin_loss(a, (b > 0).float(), c[0], reduction="sum"), A, B, C),
    "cross_entropy of probabilities": (lambda F, a, c: F.cross_entropy(a, c), A, C), "cross_entropy smoothed": (lambda F, a, c: F.cross_entropy(a, c, c[0], label_smoothing=0.1, reduction="sum"), A, C),
    "cross_entropy of one": (lambda F, a, c: F.cross_entropy(a[0], c[0], reduction="none"), A, C), "gumbel": (lambda F, a: F.gumbel_softmax(a, tau=0.5).sum(-1), A),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(lambda t, *x: call(t.nn.functional, *x), *(x.clone().requires_grad_() for x in inputs), order=1, atol=1e-4 if name == "gumbel" else 1e-5)


IMAGES = torch.randn(2, 3, 4, 5, generator=torch.manual_seed(1))
SLOPES = {
    "one slope": (lambda t, x, w: t.prelu(x, w[:1]), IMAGES), "a slope without axes": (lambda t, x, w: t.prelu(x, w[0]), IMAGES),
    "a slope for each channel": (lambda t, x, w: t.nn.functional.prelu(x, w), IMAGES), "transposed": (lambda t, x, w: x.mT.prelu(w), IMAGES),
    "of a vector": (lambda t, x, w: t.prelu(x[0, 0, 0], w[:1]), IMAGES), "of a number": (lambda t, x, w: t.prelu(x[0, 0, 0, 0], w[:1]), IMAGES),
    "of a number, three slopes": (lambda t, x, w: t.prelu(x[0, 0, 0, 0], w), IMAGES), "too many slopes": (lambda t, x, w: t.prelu(x[:, :2], w), IMAGES),
    "a matrix of slopes": (lambda t, x, w: t.prelu(x, w[None]), IMAGES), "another dtype": (lambda t, x, w: t.prelu(x, w.double()), IMAGES),
    "rrelu": (lambda t, x, w: t.rrelu(x.mT, 0.1, 0.3), IMAGES), "rrelu of wrong bounds": (lambda t, x, w: t.rrelu(x, 0.5, 0.3), IMAGES),
    "rrelu in place": (lambda t, x, w: t.rrelu_((x * 2).mT, 0.1, 0.3), IMAGES), "rrelu of halves": (lambda t, x, w: t.rrelu(x.half(), training=True), IMAGES),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_below_zero(name):
    call, x = SLOPES[name]
    assert_same(call, x.clone().requires_grad_(), torch.tensor([0.1, 0.2, -0.5]).requires_grad_(), order=1)


def test_drawn_slopes_have_their_gradient():
    x = weir.tensor([-2.0, -1.0, 3.0], requires_grad=True)
    for inplace in (False, True):
        y = weir.nn.functional.rrelu(x * 1, 0.2, 0.4, True, inplace)
        slopes, = weir.autograd.grad(y.sum(), x)
        assert weir.equal(y.detach(), slopes * x.detach()) and slopes[2] == 1 and bool(((slopes[:2] >= 0.2) & (slopes[:2] < 0.4)).all())


def test_the_same_seed_samples_the_same():
    def sample(t, a):
        t.manual_seed(3)
        return t.nn.functional.gumbel_softmax(a, tau=0.7), t.nn.functional.gumbel_softmax(a, hard=True, dim=0)
    assert_same(sample, A, order=0)


def test_hard_samples_have_the_soft_gradient():
    x = weir.randn(4, 5, requires_grad=True)
    y = weir.nn.functional.gumbel_softmax(x, hard=True)
    (y * weir.arange(5.0)).sum().backward()
    assert set(y.detach().sum(-1).round().tolist()) == {1.0} and bool(x.grad.abs().sum() > 0)


HALVED = {
    "mish": lambda F, x: F.mish(x), "glu": lambda F, x: F.glu(x), "threshold": lambda F, x: F.threshold(x, 0.1, 20), "nearest": lambda F, x: F.interpolate(x, scale_factor=2, mode="nearest"),
    "logsigmoid": lambda F, x: F.logsigmoid(x), "silu": lambda F, x: F.silu(x), "elu": lambda F, x: F.elu(x),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", HALVED)
def test_gradients_of_halves_are_rounded_once(name, dtype):
    """Not the sums and differences within: terms that cancel would leave few digits."""
    t = weir
    x = t.randn(2, 3, 40, 40, generator=t.Generator().manual_seed(0)).to(getattr(t, dtype))
    wide = x.float().requires_grad_()
    x.requires_grad_()
    y, z = HALVED[name](t.nn.functional, x), HALVED[name](t.nn.functional, wide)
    g = t.randn(y.shape, generator=t.Generator().manual_seed(1)).to(y.dtype)
    y.backward(g)
    z.backward(g.float())
    near = dict(rtol=2 * t.finfo(y.dtype).eps, atol=1e-7)
    assert y.float().allclose(z, **near) and x.grad.float().allclose(wide.grad, **near)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape, dim", [((6,), 0), ((2, 134), 1), ((4, 5, 3), 0), ((3, 6, 5), 1), ((3, 8, 17), -2), ((2, 0, 3), 1), ((0, 4), 1)])
def test_the_gradient_of_glu_along_any_axis(dtype, shape, dim):
    x = (4 * torch.randn(shape, generator=torch.manual_seed(0))).to(dtype)
    for y in (x, x.transpose(0, -1).contiguous().transpose(0, -1)):
        half = dtype.itemsize == 2  # of which PyTorch rounds each step of the gradient
        assert_same(lambda t, x: t.nn.functional.glu(x, dim), y.requires_grad_(), order=1 if half else 2, rtol=2e-2 if half else 1e-4, atol=2e-2 if half else 1e-5)


def test_the_gradient_of_glu_beside_numbers_beyond_all():
    x = torch.tensor([[1.0, torch.inf, torch.nan, -2.0, 200.0, -torch.inf, 0.5, torch.nan], [torch.inf, 1.0, 2.0, 3.0, torch.inf, -torch.inf, 0.0, -200.0]])
    assert_same(lambda t, x: t.nn.functional.glu(x, 1), x.requires_grad_(), order=1)
