"""Pooling kernels against PyTorch: row-major planes, channels_last, windows that do and do not tile."""

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir

F, T = weir.nn.functional, torch.nn.functional
LAYOUTS = {"row-major": torch.contiguous_format, "channels_last": torch.channels_last}


def compare(name, shape, layout, dtype=torch.float32, *args, **kwargs):
    """The outputs and the gradient of a random cotangent agree."""
    torch.manual_seed(0)
    x = torch.randn(shape).to(dtype).contiguous(memory_format=LAYOUTS[layout]).requires_grad_()
    y = to_weir(x)
    ours, theirs = getattr(F, name)(y, *args, **kwargs), getattr(T, name)(x, *args, **kwargs)
    assert_close(ours, theirs)
    cotangent = torch.randint(-4, 5, theirs.shape).to(dtype)  # small integers: their sums are exact in every dtype
    theirs.backward(cotangent)
    ours.backward(to_weir(cotangent))
    assert_close(y.grad, x.grad)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size, output", [((7, 7), 1), ((56, 70), 1), ((13, 13), 6), ((8, 8), (4, 2)), ((5, 3), (8, 3)), ((9, 4), (1, 2)),
                                          ((6, 9), (3, 1))])
def test_adaptive_avg_pool(layout, size, output):
    compare("adaptive_avg_pool2d", (2, 70, *size), layout, torch.float32, output)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [dict(stride=2, padding=1), dict(stride=1), dict(stride=3, padding=1, ceil_mode=True),
                                     dict(stride=2, padding=1, count_include_pad=False), dict(stride=2, divisor_override=5)])
def test_avg_pool(layout, options):
    compare("avg_pool2d", (2, 5, 17, 20), layout, torch.float64, 3, **options)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("options", [dict(stride=2, padding=1), dict(stride=1), dict(stride=3, padding=1, ceil_mode=True),
                                     dict(stride=2, padding=1, dilation=2)])
def test_max_pool(layout, dtype, options):
    compare("max_pool2d", (2, 70, 17, 150), layout, dtype, 3, **options)


def test_max_pool_keeps_the_first_of_equals_and_the_last_nan():
    x = torch.tensor([[[[1.0, 1.0, float("nan"), float("nan"), -float("inf"), -float("inf")]]]])
    ours, theirs = F.max_pool2d(to_weir(x), (1, 2), return_indices=True), T.max_pool2d(x, (1, 2), return_indices=True)
    assert ours[1].tolist() == theirs[1].tolist()


def test_avg_pool3d():
    x = torch.randn(2, 3, 6, 7, 8)
    assert_close(F.avg_pool3d(to_weir(x), 3, 2, 1), T.avg_pool3d(x, 3, 2, 1))
    assert_close(F.adaptive_avg_pool3d(to_weir(x), 1), T.adaptive_avg_pool3d(x, 1))


@pytest.mark.parametrize("channels", [3, 8, 16, 40, 70])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool2d"])
def test_channels_last_of_every_width(channels, dtype, pool):
    x = torch.randn(2, channels, 9, 7, generator=torch.manual_seed(0)).to(dtype).contiguous(memory_format=torch.channels_last)
    x[0, :, 2, 3], x[1, 1], x[1, 2, :4] = float("nan"), -float("inf"), float("inf")
    options = {"padding": 1, "stride": 2} if pool in ("max_pool2d", "avg_pool2d") else {}
    size = 3 if options else (4, 3)
    if "max" in pool:
        options["return_indices"] = True
    tolerance = {torch.float32: 1e-6, torch.float64: 1e-12}.get(dtype, 1e-2)
    assert_same(lambda t, x: getattr(t.nn.functional, pool)(x, size, **options), x.requires_grad_(), order=1, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("window, stride", [(2, 2), (3, 1), (7, 1), ((9, 7), 1)])
def test_channels_last_windows_that_share_columns_or_do_not(window, stride, dtype):
    x = torch.randn(2, 20, 9, 12, generator=torch.manual_seed(0)).to(dtype).contiguous(memory_format=torch.channels_last)
    tolerance = 1e-6 if dtype == torch.float32 else 1e-3
    for options in ({}, {"count_include_pad": False, "padding": 1}, {"divisor_override": 3}):
        assert_same(lambda t, x: t.nn.functional.avg_pool2d(x, window, stride, **options), x, rtol=tolerance, atol=tolerance)
