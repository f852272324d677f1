"""Variance and standard deviation against PyTorch's. Kernel: framework/kernels/cpu/deviation.cpp."""

import pytest
import torch
from twins import assert_same

INF, NAN = float("inf"), float("nan")
CALLS = {
    "all": lambda t, x, f: f(x), "dim": lambda t, x, f: f(x, 1), "first": lambda t, x, f: f(x, 0), "apart": lambda t, x, f: f(x, (0, -1)), "kept": lambda t, x, f: f(x, dim=(1, 2), keepdim=True),
    "biased": lambda t, x, f: f(x, False), "biased dim": lambda t, x, f: f(x, 2, False, True), "correction": lambda t, x, f: f(x, 0, correction=2), "half": lambda t, x, f: f(x, correction=0.5),
    "none free": lambda t, x, f: f(x, 0, correction=9), "turned": lambda t, x, f: f(x.permute(2, 0, 1), 1), "outside": lambda t, x, f: f(x, 3), "twice": lambda t, x, f: f(x, (1, 1)),
    "number": lambda t, x, f: f(x[0, 0, 0], correction=0), "empty": lambda t, x, f: f(x[:0], 0), "no lines": lambda t, x, f: f(x[:0], 1), "integers": lambda t, x, f: f(x.detach().long()),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("function", ["var", "std", "var_mean", "std_mean"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_as_pytorch(function, name, dtype):
    x = torch.randn(2, 5, 7, dtype=dtype, requires_grad=True)
    assert_same(lambda t, x: CALLS[name](t, x, getattr(t, function)), x, order=2 if dtype == torch.float64 else 1)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float16, 2e-3), (torch.bfloat16, 1e-2), (torch.complex64, 1e-5)])
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_dtypes(dtype, tolerance, dim):
    x = torch.randn(9, 70, dtype=torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
    assert_same(lambda t, x: t.var_mean(x, dim), x, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape, dim", [((40_000,), 0), ((3, 9_000), 1), ((9_000, 70), 0), ((2, 5_000, 3), 1)])
def test_long_lines_of_large_numbers(shape, dim):
    x = torch.randn(shape, generator=torch.manual_seed(1)) + 1000
    assert_same(lambda t, x: t.var_mean(x, dim), x, rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("n", [3, 49, 2049, 9_000])
def test_equal_numbers_do_not_deviate(n, dtype):
    x = torch.full((n,), 0.0466 - (0.0012j if dtype.is_complex else 0), dtype=dtype)
    assert_same(lambda t, x: t.std(x) < (1e-7 if dtype == torch.complex64 else 5e-16), x)


@pytest.mark.parametrize("values", [[INF, 1, 2], [1, 2, INF], [1, -INF, 2], [INF, -INF, 1], [NAN, 1, 2], [2, 2, 2], [INF]])
def test_what_is_not_finite(values):
    values = [float(x) for x in values]
    for x in (torch.tensor(values), torch.tensor([values, values]).t().contiguous()):
        assert_same(lambda t, x: t.var_mean(x, 0), x)
        assert_same(lambda t, x: t.std(x, 0), x.clone().requires_grad_())
