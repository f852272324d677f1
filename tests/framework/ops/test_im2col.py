"""Windows as columns and back, against PyTorch's. Kernels: framework/kernels/cpu/im2col.cpp."""

import pytest
import torch
from twins import assert_same

X = torch.randn(2, 3, 7, 8)
WINDOWS = [dict(kernel_size=3), dict(kernel_size=(2, 3), stride=(2, 1)), dict(kernel_size=3, padding=1), dict(kernel_size=2, dilation=(2, 3), padding=(0, 2), stride=3),
           dict(kernel_size=(7, 8)), dict(kernel_size=1, padding=5, stride=4), dict(kernel_size=9), dict(kernel_size=0), dict(kernel_size=2, stride=0), dict(kernel_size=2, padding=-1),
           dict(kernel_size=(2, 2, 2))]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_unfold(window):
    assert_same(lambda t, x: t.nn.functional.unfold(x, **window), X.clone().requires_grad_())
    assert_same(lambda t, x: t.nn.functional.unfold(x.transpose(2, 3)[0], **window), X)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_fold(window):
    try:
        columns = torch.nn.functional.unfold(X, **window)
    except (RuntimeError, ValueError):
        columns = torch.randn(2, 12, 20)
    assert_same(lambda t, x: t.nn.functional.fold(x, (7, 8), **window), columns.requires_grad_())
    assert_same(lambda t, x: t.nn.functional.fold(x[0], (7, 8), **window), columns)


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float16, torch.bfloat16, torch.complex64])
def test_dtypes(dtype):
    x = (X * 3).to(dtype)
    assert_same(lambda t, x: t.nn.functional.unfold(x, 2), x)
    if dtype not in (torch.bool, torch.int64):
        assert_same(lambda t, x: t.nn.functional.fold(t.nn.functional.unfold(x, 2), (7, 8), 2), x, rtol=1e-2)


def test_misfits():
    for shape in ((2, 12), (2, 13, 42), (2, 12, 41), (12,), (0, 12, 42), (2, 0, 42)):
        assert_same(lambda t, x: t.nn.functional.fold(x, (7, 8), 2), torch.zeros(shape))
    for shape in ((2, 0, 7, 8), (0, 3, 7, 8)):
        assert_same(lambda t, x: t.nn.functional.unfold(x, 2), torch.zeros(shape))
