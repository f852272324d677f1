"""Counts, extremes, norms and sizes of another against PyTorch's. Also framework/ops/alike.cpp."""

import pytest
import torch
from twins import assert_same

A, T = torch.randn(3, 4), torch.randn(2, 3, 4)
HOLES = torch.tensor([[1.0, float("nan"), 0.0], [float("nan")] * 3, [2.0, 0.0, -0.0]])

CALLS = {
    "nanmean": (lambda t, a: t.nanmean(a), HOLES), "nanmean over rows": (lambda t, a: t.nanmean(a, 0, True), HOLES), "nanmean in float64": (lambda t, a: t.nanmean(a, dtype=t.float64), HOLES),
    "nanmean of integers": (lambda t, a: t.nanmean(a.long()), A.detach()), "nanmean in integers": (lambda t, a: t.nanmean(a, dtype=t.int64), A),
    "count_nonzero": (lambda t, a: t.count_nonzero(a), HOLES), "count_nonzero over axes": (lambda t, a: t.count_nonzero(a, (0, 1)), HOLES), "count_nonzero outside": (lambda t, a: t.count_nonzero(a, 2), HOLES),
    "aminmax": (lambda t, a: t.aminmax(a), A), "aminmax over rows": (lambda t, a: t.aminmax(a, dim=0, keepdim=True), A), "aminmax of nothing": (lambda t, a: t.aminmax(a[:0]), A),
    "dist": (lambda t, a, b: t.dist(a, b), A, T), "dist p": (lambda t, a, b: t.dist(a, b, p=1.5), A, T), "dist inf": (lambda t, a: t.dist(a, a * 2, float("inf")), A),
    "renorm": (lambda t, a: t.renorm(a, 2, 0, 1.0), T), "renorm_": (lambda t, a: (a * 1).renorm_(1, -1, 2.5), T), "renorm of a vector": (lambda t, a: t.renorm(a[0], 2, 0, 1), A),
    "renorm of less than nothing": (lambda t, a: t.renorm(a, 2, 0, -1), A), "renorm by 0": (lambda t, a: t.renorm(a, 0, 0, 1), A),
    "view_as": (lambda t, a, b: a.view_as(b), A, torch.randn(2, 6)), "reshape_as": (lambda t, a, b: a.t().reshape_as(b), A, torch.randn(2, 6)), "expand_as": (lambda t, a, b: a.expand_as(b), A, T),
    "type_as": (lambda t, a: a.type_as(a.double()), A), "ravel": (lambda t, a: t.ravel(a.t()), A), "positive": (lambda t, a: t.positive(a), A), "positive of bools": (lambda t, a: t.positive(a > 0), A.detach()),
    "sum_to_size": (lambda t, a: a.sum_to_size(1, 4), T), "sum_to_size of a list": (lambda t, a: a.sum_to_size([3, 1]), T), "sum_to_size of a misfit": (lambda t, a: a.sum_to_size(2, 4), T), "sum_to_size larger": (lambda t, a: a.sum_to_size(2, 3, 4), A),
    "narrow_copy": (lambda t, a: t.narrow_copy(a, 1, -2, 2), A), "narrow_copy outside": (lambda t, a: t.narrow_copy(a, 1, 5, 1), A), "narrow_copy of no axis": (lambda t, a: t.narrow_copy(a, 2, 0, 1), A),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(call, *(x.clone().requires_grad_() if x is not HOLES else x for x in inputs), order=1)


@pytest.mark.parametrize("call", ["aminmax", "amax", "amin"])
def test_the_gradient_of_an_extreme_that_equals_nothing(call):
    for numbers in (float("nan"), [float("nan"), 1.0]):
        x = torch.tensor(numbers, requires_grad=True)
        assert_same(lambda t, x: getattr(t, call)(x), x, order=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.complex64])
@pytest.mark.parametrize("shape", [(), (1,), (257,), (5, 7, 9), (3, 70_001)])
def test_one_pass_over_all_numbers(dtype, shape):
    x = (torch.randn(shape, generator=torch.manual_seed(0)) * 2).to(dtype)

    def everything(t, x):
        found = []
        for y in (x, x.transpose(0, -1) if x.dim() else x, x[..., ::2] if x.dim() else x, x.expand(3, *x.shape)):
            found += [t.count_nonzero(y)]
            if not x.is_complex():
                found += [*t.aminmax(y), *t.aminmax(y, keepdim=True)]
        return found
    assert_same(everything, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("at", [0, 50_000, 99_999])
def test_nan_is_both_extremes_and_no_zero(dtype, at):
    x = torch.zeros(100_000, dtype=dtype)
    x[1::2] = -0.0
    x[at] = torch.nan
    assert_same(lambda t, x: [*t.aminmax(x), t.count_nonzero(x)], x)
