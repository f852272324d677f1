"""Losses against PyTorch: the ops by their number of a reduction, and nn.functional by its word."""

import warnings

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir

X = torch.randn(4, 3, generator=torch.manual_seed(0), requires_grad=True)
Y = torch.rand(4, 3, generator=torch.manual_seed(1), requires_grad=True)
SIGN = torch.tensor([1.0, -1, 1, -1])
SIGNS = torch.where(Y.detach() > 0.5, 1.0, -1.0)
INF, NAN = float("inf"), float("nan")

TORCH = {
    "bce with logits": lambda t, x, y, r: t.binary_cross_entropy_with_logits(x, y, reduction=r),
    "bce weighted": lambda t, x, y, r: t.binary_cross_entropy_with_logits(x, y, y[:1], y[0] * 2, r),
    "bce broadcast": lambda t, x, y, r: t.binary_cross_entropy_with_logits(x, y[:1], reduction=r),
    "bce wide weight": lambda t, x, y, r: t.binary_cross_entropy_with_logits(x[0], y[0], y, reduction=r),
    "kl_div": lambda t, x, y, r: t.kl_div(x, y, r), "kl_div log": lambda t, x, y, r: t.kl_div(x, y, r, log_target=True),
    "poisson": lambda t, x, y, r: t.poisson_nll_loss(x, y, True, False, 1e-8, r),
    "poisson full": lambda t, x, y, r: t.poisson_nll_loss(x.exp(), y * 4, False, True, 1e-8, r),
    "hinge": lambda t, x, y, r: t.hinge_embedding_loss(x, t.where(y > 0.5, 1.0, -1.0), 0.7, r),
    "ranking": lambda t, x, y, r: t.margin_ranking_loss(x, y, y.detach() - 0.5, 0.1, r),
    "cosine": lambda t, x, y, r: t.cosine_embedding_loss(x, y, t.tensor([1, -1, 1, 0]), 0.1, r),
    "cosine single": lambda t, x, y, r: t.cosine_embedding_loss(x[0], y[0], t.tensor(-1), 0.1, r),
    "cosine misfit": lambda t, x, y, r: t.cosine_embedding_loss(x, y, t.ones(4, 1), 0.1, r),
    "triplet": lambda t, x, y, r: t.triplet_margin_loss(x, y, x * 2, swap=True, reduction=r),
}
F = {
    "mse": lambda f, x, y, **o: f.mse_loss(x, y, **o), "l1": lambda f, x, y, **o: f.l1_loss(x, y, **o),
    "smooth": lambda f, x, y, **o: f.smooth_l1_loss(x, y, beta=0.3, **o), "smooth 0": lambda f, x, y, **o: f.smooth_l1_loss(x, y, beta=0.0, **o),
    "smooth -1": lambda f, x, y, **o: f.smooth_l1_loss(x, y, beta=-1.0, **o),
    "huber": lambda f, x, y, **o: f.huber_loss(x, y, delta=0.4, **o), "huber 0": lambda f, x, y, **o: f.huber_loss(x, y, delta=0.0, **o),
    "huber weighted": lambda f, x, y, **o: f.huber_loss(x, y, weight=y, **o), "mse weighted": lambda f, x, y, **o: f.mse_loss(x, y, weight=y, **o),
    "bce": lambda f, x, y, **o: f.binary_cross_entropy(x.sigmoid(), y, **o), "bce outside": lambda f, x, y, **o: f.binary_cross_entropy(x, y, **o),
    "bce weight": lambda f, x, y, **o: f.binary_cross_entropy(x.sigmoid(), y, y[0], **o),
    "bce misfit": lambda f, x, y, **o: f.binary_cross_entropy(x.sigmoid(), y[0], **o),
    "logits": lambda f, x, y, **o: f.binary_cross_entropy_with_logits(x, y, pos_weight=y[0], **o),
    "kl": lambda f, x, y, **o: f.kl_div(x, y, **o), "poisson": lambda f, x, y, **o: f.poisson_nll_loss(x, y, **o),
    "soft": lambda f, x, y, **o: f.soft_margin_loss(x, y, **o), "ranking": lambda f, x, y, **o: f.margin_ranking_loss(x, y, x.detach(), **o),
    "triplet": lambda f, x, y, **o: f.triplet_margin_loss(x, y, y * 2, **o),
}


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("reduction", [0, 1, 2, 7])
def test_top_level(name, reduction):
    assert_same(lambda t, x, y: TORCH[name](t, x, y, reduction), X, Y, what=name)
    assert_same(lambda t, x, y: TORCH[name](t, x, y, reduction), (X.detach() * 3).long(), Y.detach().long(), what=name)


@pytest.mark.parametrize("name", [n for n in TORCH if n != "poisson full"])
def test_a_word_is_no_number(name):
    assert_same(lambda t, x, y: TORCH[name](t, x, y, "mean"), X, Y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", F)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum", "most"])
def test_functional(name, reduction):
    call = lambda t, x, y: F[name](t.nn.functional, x, y, reduction=reduction)  # noqa: E731
    assert_same(call, X, Y, rtol=1e-3, what=name)  # the sine of a sum shows in which order it was added, which the instruction set decides
    assert_same(call, X, Y.detach().double(), what=name)
    assert_same(lambda t, x, y: call(t, x, y[:1]), X, Y, what=name)


def test_binary_cross_entropy_at_its_limits():
    p = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.5], requires_grad=True)
    t = torch.tensor([0.0, 0.0, 1.0, 1.0, 0.3])
    assert_same(lambda f, p, t: f.nn.functional.binary_cross_entropy(p, t, reduction="none"), p, t, order=1)
    for bad in (1.5, -0.1, NAN):
        assert_same(lambda f, p: f.nn.functional.binary_cross_entropy(p, f.full((5,), bad)), p.detach())
        assert_same(lambda f, p: f.nn.functional.binary_cross_entropy(f.full((5,), bad), p), p.detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_of_binary_cross_entropy_beside_certain_predictions(dtype):
    p = torch.tensor([0.0, 1.0, 0.0, 1.0, 1e-13, 0.125, 0.5], dtype=dtype, requires_grad=True)
    t = torch.tensor([0.0, 0.0, 1.0, 0.5, 1.0, 0.25, 0.5], dtype=dtype, requires_grad=True)
    found = []
    for f, x, y in ((torch, p, t), (weir, to_weir(p).requires_grad_(), to_weir(t).requires_grad_())):
        loss = f.nn.functional.binary_cross_entropy(x, y, reduction="sum")
        first = f.autograd.grad(loss, [x, y], create_graph=True)
        by_p, by_t = (f.autograd.grad(g.sum(), [x, y], retain_graph=True, allow_unused=True) for g in first)
        found.append([*first, *by_p, by_t[0]])
    for ours, theirs in zip(found[1], found[0]):
        assert_close(ours, theirs, 1e-5 if dtype == torch.float32 else 1e-14, 0.0)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_margins_of_classes(p, reduction):
    labels = torch.tensor([0, 2, 1, 0])
    for weight in (None, Y[0].detach(), Y[0, :2].detach()):
        call = lambda t, x, l, *w: t.nn.functional.multi_margin_loss(x, l, p, 0.8, *w, reduction=reduction)  # noqa: E731, E741
        extra = () if weight is None else (weight,)
        assert_same(call, X, labels, *extra, order=1)
        assert_same(call, X[0].detach(), labels[0], *extra)
        assert_same(call, X[:1].detach(), labels[0], *extra)
    many = torch.tensor([[0, 2, -1], [-1, 0, 0], [1, 0, 2], [2, -1, 1]])
    assert_same(lambda t, x, m: t.nn.functional.multilabel_margin_loss(x, m, reduction=reduction), X, many, order=1)
    assert_same(lambda t, x, m: t.nn.functional.multilabel_margin_loss(x[0], m[0], reduction=reduction), X.detach(), many)
    assert_same(lambda t, x, m: t.nn.functional.multilabel_margin_loss(x, m[0], reduction=reduction), X.detach(), many)


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_targets_of_bools_count_as_numbers(name):
    x, hit = torch.randn(3, 4, requires_grad=True), torch.rand(3, 4) > 0.5
    assert_same(lambda t, x, y: getattr(t.nn.functional, name)(x, y), x, hit, order=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("delta", [1e300, 1e39, INF, 2.0])
def test_a_huber_loss_with_no_straight_part(delta, dtype):
    for values in ([1.0, 2.0, -3.0], [INF, NAN, 0.5]):
        assert_same(lambda t, x: t.nn.functional.huber_loss(x, t.zeros_like(x), delta=delta, reduction="none"), torch.tensor(values, dtype=dtype, requires_grad=True), order=1, rtol=1e-2)


def test_a_loss_of_pictures_takes_no_bytes_as_targets():
    for sizes in ((2, 3), (2, 3, 4), (2, 3, 4, 4)):
        assert_same(lambda t, x, y: t.nn.functional.nll_loss(x, y), torch.ones(sizes), torch.ones(sizes[:1] + sizes[2:], dtype=torch.uint8), what=f"{sizes}")


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("loss", ["nll_loss", "cross_entropy"])
def test_the_loss_of_one_example_is_a_number(loss, reduction):
    x = torch.tensor([1.0, 2, 3], requires_grad=True)
    for y, given in ((torch.tensor([1]), {}), (torch.tensor(1), {}), (torch.tensor([1], dtype=torch.uint8), {}), (torch.tensor([1]), {"ignore_index": 1}), (torch.tensor([1, 1]), {})):
        assert_same(lambda t, x, y: getattr(t.nn.functional, loss)(x, y, reduction=reduction, **given), x, y, what=f"{loss} {reduction} {given}")
        assert_same(lambda t, x, y: t.nn.functional.cross_entropy(x, y, reduction=reduction, label_smoothing=0.1), x, y, what=f"smooth {reduction}")


@pytest.mark.parametrize("labels", [[[0, -2, 1]], [[0, 3, 1]], [[-1, 5, 1]], [[0, -1, -7]]])
def test_labels_that_are_no_classes_are_refused(labels):
    """Also behind the -1 that ends a row."""
    for t in (torch, weir):
        with pytest.raises(RuntimeError, match="out of range"):
            t.nn.functional.multilabel_margin_loss(t.zeros(1, 3), t.tensor(labels))
        with pytest.raises(RuntimeError, match="out of range"):
            t.nn.functional.multi_margin_loss(t.zeros(1, 3), t.tensor([3]))


def test_margins_of_many_classes_take_no_square_of_memory():
    x, labels = weir.zeros(64, 20_000, requires_grad=True), weir.full((64, 20_000), -1)
    labels[:, 0] = 7  # a table of all pairs would take 100 GB
    weir.nn.functional.multilabel_margin_loss(x, labels).backward()
    assert x.grad[0, 7] == -19_999 / 20_000 / 64 and x.grad[0, 0] > 0


@pytest.mark.parametrize("target", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("given", [{}, {"weight": torch.tensor([1.3, 0.7, 2.0])}, {"pos_weight": torch.tensor([1.3, 0.7, 2.0])}])
def test_gradients_have_the_digits_of_input_beside_narrower_targets(given, reduction, target):
    def call(t, x, y, *weights):
        return t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction=reduction, **dict(zip(given, weights)))
    x, y = torch.tensor([[1.234, 2.3, -0.7]] * 5, dtype=torch.float64, requires_grad=True), torch.tensor([[0.1, 0.6, 1.0]] * 5).to(target)
    assert_same(call, x, y, *given.values(), order=0, rtol=1e-2)
    slopes = [t.autograd.grad(call(t, *made).sum(), made[0])[0] for t, made in ((torch, (x, y, *given.values())), (weir, to_weir((x, y, *given.values()))))]
    assert_close(slopes[1], slopes[0], 1e-12)


def test_a_mean_over_no_examples_is_nan():
    for sizes in ((0, 3), (3, 0), (0, 1), (2, 0, 3)):
        assert_same(lambda t, x: t.nn.functional.cross_entropy(x, x), torch.ones(sizes), what=f"{sizes}")


def test_a_variance_may_be_bounded_by_a_learned_number():
    x, eps = torch.ones(3, dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(lambda t, x, eps: t.nn.functional.gaussian_nll_loss(x, 2 * x, 0.1 * x, eps=eps), x, eps)


def test_an_infinite_variance_is_one():
    var = torch.tensor([1e-9, 2.0, float("inf"), float("nan")], requires_grad=True)
    x = torch.arange(1.0, 5.0, requires_grad=True)
    assert_same(lambda t, x, v: t.nn.functional.gaussian_nll_loss(x, x.detach() * 0, v, reduction="none"), x, var, order=1)


@pytest.mark.parametrize("loss", ["multi_margin_loss", "multilabel_margin_loss"])
def test_more_classes_than_one_thread_is_worth(loss):
    x = torch.randn(2, 70_000, dtype=torch.float64, generator=torch.manual_seed(2), requires_grad=True)
    labels = torch.tensor([1, 69_999]) if loss == "multi_margin_loss" else torch.full((2, 70_000), -1).index_fill(1, torch.tensor([0]), 3)
    assert_same(lambda t, x, y: getattr(t.nn.functional, loss)(x, y), x, labels, order=1)


@pytest.mark.parametrize("size", [(), (1,), (2,), (0,)])
def test_a_margin_beyond_a_half_of_one_element(size):
    """PyTorch compares the margin with what halves hold where there are several."""
    def answer(t):
        try:
            return t.hinge_embedding_loss(t.ones(size, dtype=t.bfloat16), t.tensor(-1), 1e39).tolist()
        except RuntimeError:
            return "refused"
    assert answer(weir) == answer(torch)


def test_slopes_of_soft_margins_of_a_wider_target():
    x, y = torch.tensor([1.0, -3, -100], dtype=torch.bfloat16).requires_grad_(), torch.tensor([3.0, -3, 3], dtype=torch.float64)
    assert_same(lambda t, x, y: t.nn.functional.soft_margin_loss(x, y), x, y, order=1, rtol=1e-2)
