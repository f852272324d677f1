"""framework/ops/masked.cpp: masked reductions and normalisations against PyTorch, in eager mode and as plans."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

X = torch.randn(3, 4, generator=torch.manual_seed(0), requires_grad=True)
MASK = torch.tensor([[True, False, True, True], [False] * 4, [True] * 4])
OVER = "sum prod amax amin mean logsumexp norm var std".split()
ALONG = "cumsum cumprod softmax log_softmax softmin".split()


def called(name, *args, **options):
    return lambda t, x, *mask: getattr(t.masked, name)(x, *args, mask=mask[0] if mask else None, **options)


CALLS = {
    **{f"{name} {dim} {keepdim}": called(name, *[2.0] * (name == "norm"), dim=dim, keepdim=keepdim) for name in OVER for dim, keepdim in ((1, False), ((0, -1), True))},
    **{name: called(name, 1) for name in ALONG}, **{name: called(name, 0, keepdim=True) for name in ("argmax", "argmin")},
    "normalize": called("normalize", 2.0, 1), "median": called("median", 1), "norm -inf": called("norm", -float("inf"), 1),
    "var of no correction": called("var", 1, correction=0), "biased std": called("std", 1, False),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    for mask in ((), (MASK,), (MASK[2],)):
        assert_same(CALLS[name], X, *mask, order=1, what=name)


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "norm", "cumsum", "mean", "median"])
def test_integers(name):
    x = torch.arange(12).reshape(3, 4)
    assert_same(called(name, *[1] * (name in ALONG)), x, MASK)
    assert_same(called(name, *[1] * (name in ALONG)), x)


@pytest.mark.parametrize("name", CALLS)
def test_as_a_plan(name):
    x, mask = to_weir(X.detach()), to_weir(MASK)
    with weir._trace.tracing() as trace:
        graph = trace.finish([CALLS[name](weir, *trace.arguments([x, mask]))])
    (got,) = weir._C._Plan(graph).run([x, mask])
    assert weir.equal(got.nan_to_num(), CALLS[name](weir, x, mask).nan_to_num())


@pytest.mark.parametrize("call", [
    lambda t: t.masked.sum(t.ones(2), mask=t.ones(2, 2).bool()), lambda t: t.masked.sum(t.ones(2), 3), lambda t: t.masked.sum(t.ones(2, 2), (0, 0)),
    lambda t: t.masked.mean(t.ones(2).long()), lambda t: t.masked.var(t.ones(2), 0, True, correction=1),
    lambda t: t.masked.median(t.ones(2).long(), 0, mask=t.zeros(2).bool())])
def test_refusals(call):
    errors = []
    for t in (torch, weir):
        with pytest.raises(Exception) as raised:
            call(t)
        errors.append(raised.type.__name__)
    assert errors[0] == errors[1]


@pytest.mark.parametrize("dims", [(0, -2), (-2, 0), (-2, -2), (1, 0, -2), (-1, -1), (1, 1)])
@pytest.mark.parametrize("name", ["sum", "prod", "amax", "mean", "cumsum", "softmax"])
def test_an_axis_named_twice(name, dims):
    assert_same(lambda t, x: getattr(t.masked, name)(x, dims), X.detach())


@pytest.mark.parametrize("mask", [torch.tensor(1.0, dtype=torch.float64), torch.tensor(True), torch.tensor([1, 0, 2, 1]), MASK.float().t().contiguous().t()], ids=str)
@pytest.mark.parametrize("name", ["normalize", "prod"])
def test_a_mask_of_numbers_becomes_one_of_truths_in_the_shape_of_the_input(name, mask):
    call = called(name, 2.0, 1) if name == "normalize" else called(name, [])
    for x in (X.detach(), X.detach().t().contiguous().t()):
        assert_same(call, x, mask, order=0)
