"""framework/kernels/cpu/conv_product.h: convolutions that are products of matrices, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_close, to_weir

TRANSPOSED = {  # input, weight, keywords
    "lines": ((2, 3, 9), (3, 4, 3), {}),
    "planes": ((1, 3, 8, 8), (3, 3, 3, 3), {}),
    "strided": ((2, 3, 5, 7), (3, 4, 3, 2), dict(stride=(2, 3), padding=1, output_padding=(1, 0))),
    "spread": ((1, 2, 6, 6), (2, 5, 3, 3), dict(dilation=2, padding=(3, 0))),
    "volumes": ((1, 3, 4, 4, 4), (3, 3, 3, 3, 3), dict(padding=1)),
    "strided volumes": ((2, 2, 3, 4, 5), (2, 3, 2, 3, 2), dict(stride=(2, 1, 3))),
    "more padding than windows cover": ((1, 8, 4, 80), (8, 8, 1, 3), dict(padding=(0, 30))),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolutions_of_few_columns(name):
    shape, weight, keywords = TRANSPOSED[name]
    torch.manual_seed(0)
    x, w, b = torch.randn(shape), torch.randn(weight), torch.randn(weight[1])
    suffix = f"conv_transpose{len(shape) - 2}d"
    assert_close(getattr(weir.nn.functional, suffix)(to_weir(x), to_weir(w), to_weir(b), **keywords), getattr(torch.nn.functional, suffix)(x, w, b, **keywords),
                 rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape, channels", [((1, 1, 16, 16), 1), ((3, 5, 7, 9), 4), ((2, 16, 65), 24), ((1, 1, 10, 10, 10), 1), ((2, 3, 1, 1), 2), ((0, 3, 4, 4), 2)])
def test_windows_of_one_place(shape, channels, bias):
    torch.manual_seed(0)
    n = len(shape) - 2
    x, w = torch.randn(shape), torch.randn(channels, shape[1], *[1] * n)
    b = torch.randn(channels) if bias else None
    expected = getattr(torch.nn.functional, f"conv{n}d")(x, w, b)
    got = getattr(weir.nn.functional, f"conv{n}d")(to_weir(x), to_weir(w), to_weir(b) if bias else None)
    assert got.stride() == expected.stride()
    assert_close(got, expected, rtol=1e-5, atol=1e-5)
