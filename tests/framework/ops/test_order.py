"""Running extremes, ranks and quantiles against PyTorch. Covers framework/ops/check.cpp and framework/kernels/cpu/check.cpp too."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

NAN = float("nan")
INPUTS = {
    "matrix": torch.tensor([[3.0, -1, 2, 2.5], [0.5, 5, NAN, 6], [-0.0, 1, 7, float("inf")]]),
    "clean": torch.randn(4, 5, 3, generator=torch.manual_seed(0)),
    "ties": torch.tensor([[2, 2, 1, 1], [7, 7, 7, 7]]),
    "bytes": torch.tensor([[200, 3], [3, 200]], dtype=torch.uint8),
    "bool": torch.tensor([[True, False], [False, False]]),
    "half": torch.tensor([1.0, NAN, 0.5], dtype=torch.bfloat16),
    "number": torch.tensor(3.5),
    "empty": torch.zeros(2, 0),
    "complex": torch.zeros(2, 3, dtype=torch.complex64),
    "long": torch.randn(3000, generator=torch.manual_seed(1)),
}
CALLS = {"median": lambda t, x: t.median(x), "nanmedian": lambda t, x: x.nanmedian(), "msort": lambda t, x: t.msort(x)}
for dim in (0, -1, 3):
    CALLS |= {
        f"cummax {dim}": lambda t, x, d=dim: t.cummax(x, d), f"cummin {dim}": lambda t, x, d=dim: x.cummin(d),
        f"argsort {dim}": lambda t, x, d=dim: t.argsort(x, dim=d, stable=True),
        f"argsort down {dim}": lambda t, x, d=dim: x.argsort(dim=d, descending=True, stable=True),
    }
    for keep in (False, True):
        CALLS |= {
            f"median {dim} {keep}": lambda t, x, d=dim, k=keep: t.median(x, d, k)[0],
            f"nanmedian {dim} {keep}": lambda t, x, d=dim, k=keep: t.nanmedian(x, d, keepdim=k)[0],
            f"mode {dim} {keep}": lambda t, x, d=dim, k=keep: t.mode(x, d, k)[0],
            f"kthvalue {dim} {keep}": lambda t, x, d=dim, k=keep: t.kthvalue(x, 2, d, k)[0],
            f"quantile {dim} {keep}": lambda t, x, d=dim, k=keep: t.quantile(x, t.tensor([0.1, 0.7]), d, k),
            f"nanquantile {dim} {keep}": lambda t, x, d=dim, k=keep: t.nanquantile(x, 0.4, d, k),
        }
for how in ("lower", "higher", "midpoint", "nearest", "linear", "none"):
    CALLS[f"quantile {how}"] = lambda t, x, how=how: t.quantile(x, t.tensor([0.0, 0.35, 1.0]), interpolation=how)


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    for what, x in INPUTS.items():
        if x.is_floating_point() and "long" not in what:
            x = x.clone().requires_grad_()
        # The second derivative of a quantile that is NaN is whatever the parts make of NaN times zero.
        assert_same(CALLS[name], x, order=1 if "quantile" in name else 2, what=f"{name} of {what}")


@pytest.mark.parametrize("q", [1.5, -0.1, NAN, 0.5, 1, True])
def test_quantile_checks_its_range(q):
    assert_same(lambda t, x: t.quantile(x, q), INPUTS["clean"])
    assert_same(lambda t, x: t.quantile(x, t.tensor([float(q)])), INPUTS["clean"])


@pytest.mark.parametrize("k", [0, 1, 2900, 3000, 3001])
def test_kthvalue_of_a_long_line(k):
    assert_same(lambda t, x: t.kthvalue(x, k), INPUTS["long"])


def test_median_of_a_long_line_of_few_values():
    x = torch.randint(0, 3, (5000,), generator=torch.manual_seed(0))
    for dtype in (torch.int64, torch.float64, torch.float32):
        assert_same(lambda t, x: [t.median(x), t.median(x - 1), t.median(x * 1000 - 700), t.median(x * 0 + 7), t.median(x * x * 2**40)], x.to(dtype))
        assert_same(lambda t, x: t.kthvalue(x, 2500, 0)[0], x.to(dtype))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.float32])
def test_the_median_of_nothing(dtype):
    assert_same(lambda t, x: [t.median(x), t.nanmedian(x)], torch.ones(0, dtype=dtype))


@pytest.mark.parametrize("lines", [1, 3, 4, 9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_running_extremes_of_some_lines(lines, dtype):
    x = torch.randn(lines, 50, generator=torch.manual_seed(lines)).mul(5).to(dtype)
    if dtype.is_floating_point:
        x[0, 7], x[-1, 30] = NAN, -float("inf")
    for name in ("cummax", "cummin"):
        for dim in (0, 1):
            assert_same(getattr(weir, name)(to_weir(x), dim), getattr(torch, name)(x, dim))


def short_lines(n, dtype, ties):
    g = torch.manual_seed(n)
    x = torch.randint(-3, 4, (5, n, 9), generator=g).double() if ties else torch.randn(5, n, 9, dtype=torch.float64, generator=g) * 100
    if ties and dtype.is_floating_point:
        x[x == 2] = NAN
        x[x == 0] = -0.0
        x[::2][x[::2] == 0] = 0.0
    return x.to(dtype)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.int64, torch.int16, torch.bool])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 31, 32, 33])
def test_lines_side_by_side(n, dtype, ties):
    """Of few numbers each, along any axis of any strides: of equal numbers the same as PyTorch's."""
    def everything(t, x):
        turned = x.permute(2, 0, 1).contiguous().permute(1, 2, 0)
        found = []
        for y, dim in ((x, 1), (turned, 1), (x.transpose(1, 2), 2), (x.transpose(0, 1)[:, ::2], 0), (x[:, :, 0], 1)):
            found += [*t.sort(y, dim=dim, stable=True), *t.sort(y, dim=dim, descending=True, stable=True)]
            if y.dtype != t.bool:
                for k in {1, (n + 1) // 2, n}:
                    found += [*t.topk(y, k, dim), *t.topk(y, k, dim, largest=False), *t.kthvalue(y, k, dim), *t.kthvalue(y, k, dim, keepdim=True)]
        return found
    assert_same(everything, short_lines(n, dtype, ties), order=0, rtol=0, atol=0)


@pytest.mark.parametrize("descending", [False, True])
def test_numbers_and_lines_that_repeat(descending):
    def everything(t, x):
        spread = [x.expand(4, 3, 50), x.expand(4, 3, 50).transpose(0, 2), x[0, :, :1].expand(3, 40), x[0, 0, 0].expand(3, 5)]
        return [part for y in spread for dim in (0, 1) for part in t.sort(y, dim=dim, descending=descending, stable=True)] + [*t.topk(spread[0], 2, 1)]
    assert_same(everything, torch.randn(1, 3, 50, generator=torch.manual_seed(0)), order=0, rtol=0, atol=0)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_kthvalue_along_an_axis_that_repeats(n, keepdim):
    x = torch.tensor([[1.0, torch.nan, -2.0], [0.0, 3.0, torch.inf]])
    for k in {1, 2, n // 2 + 1, n}:
        assert_same(lambda t, x: [*t.kthvalue(x.expand(n, 2, 3), k, 0, keepdim), *t.kthvalue(x[:, None].expand(2, n, 3).long(), k, 1, keepdim)], x)
