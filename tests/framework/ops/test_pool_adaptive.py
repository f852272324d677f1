"""Adaptive pools against PyTorch."""

import pytest
import torch
from twins import assert_same

X = torch.randn(2, 3, 5, 6, 7, generator=torch.manual_seed(0))


@pytest.mark.parametrize("rank, sizes", [(1, (3, 1, 0, 9)), (2, ((2, 3), 1, (None, 4), 0, (7, 8))), (3, ((2, 3, 4), 1, (1, None, 2), 0))])
def test_maxima_and_means(rank, sizes):
    x = X[(slice(None), slice(None), *[0] * (3 - rank))].clone()
    x[0, 0].view(-1)[3] = float("nan")
    for size in sizes:
        for y in (x.clone().requires_grad_(), x[0].clone().requires_grad_(), x.double(), x.bfloat16(), x.long(), x[:0], x[..., :0]):
            call = lambda t, y: getattr(t.nn.functional, f"adaptive_max_pool{rank}d")(y, size, return_indices=True)  # noqa: E731
            assert_same(call, y, what=f"max {size} {y.shape}")
            mean = lambda t, y: getattr(t.nn.functional, f"adaptive_avg_pool{rank}d")(y, size)  # noqa: E731
            assert_same(mean, y, rtol=3e-2, atol=1e-2, what=f"mean {size} {y.shape} {y.dtype}")


def test_channels_last_stays():
    x = X[:, :, 0].clone()
    assert_same(lambda t, x: t.nn.functional.adaptive_max_pool2d(x.contiguous(memory_format=t.channels_last), 3, True), x)


@pytest.mark.parametrize("cut", ["[:, ::2]", "[:, 1:]", "[::2]", "[:, :, ::2]", "[..., 1:]"])
@pytest.mark.parametrize("pool", ["adaptive_max_pool2d(x, 3, True)", "adaptive_avg_pool2d(x, 3)", "max_pool2d(x, 2, return_indices=True)", "avg_pool2d(x, 2)"])
def test_cuts_of_channels_last_pictures(pool, cut):
    x = torch.randn(4, 4, 6, 7, generator=torch.manual_seed(0), requires_grad=True)
    call = eval(f"lambda t, x: t.nn.functional.{pool.replace('(x', f'(x.contiguous(memory_format=t.channels_last){cut}')}")
    assert_same(call, x, rtol=1e-5, atol=1e-6)


def test_top_level_returns_positions():
    assert_same(lambda t, x: t.adaptive_max_pool1d(x, 2), X[0, 0])


@pytest.mark.parametrize("size", [(None, None), (None, 2), (1, 7), (9, 40)])
def test_windows_of_one_and_of_many(size):
    x = torch.randn(2, 3, 9, 40, generator=torch.manual_seed(0), requires_grad=True)
    x.data[0, 1, 3, 5] = float("nan")
    assert_same(lambda t, x: t.nn.functional.adaptive_max_pool2d(x, size, True)[0], x)
    assert_same(lambda t, x: t.nn.functional.adaptive_max_pool2d(x, size, True)[1], x.detach())
