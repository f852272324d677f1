"""Channels and features rearranged, and convolution over time, against PyTorch."""

import pytest
import torch
from twins import assert_same

X = torch.randn(2, 4, 6, 6, generator=torch.manual_seed(0), requires_grad=True)
SHUFFLES = {"channel_shuffle": (1, 2, 4, 3, 0, -1), "native_channel_shuffle": (1, 2, 3), "pixel_shuffle": (1, 2, 3, 0, -1),
            "pixel_unshuffle": (1, 2, 3, 4, 0)}


@pytest.mark.parametrize("name", SHUFFLES)
def test_shuffles_are_copies(name):
    for n in SHUFFLES[name]:
        for x in (X, X.detach().long(), X.detach()[0], X.detach()[0, 0], X.detach()[:, :0], X.detach()[:0],
                  X.detach().contiguous(memory_format=torch.channels_last), X.detach().view(2, 4, 2, 3, 6).contiguous(memory_format=torch.channels_last_3d)):
            assert_same(lambda t, x: getattr(t, name)(x, n), x, what=f"{name} {n} {x.shape}")
        if n > 0 and name.startswith("pixel"):
            assert_same(lambda t, x: getattr(t.nn.functional, name)(x.transpose(2, 3), n), X)


@pytest.mark.parametrize("name, n", [("channel_shuffle", 2), ("pixel_shuffle", 2), ("pixel_unshuffle", 3)])
def test_gradients_of_shuffles_lie_as_what_comes_back(name, n):
    x = X.detach().contiguous(memory_format=torch.channels_last).requires_grad_()
    assert_same(lambda t, x: t.autograd.grad(getattr(t.nn.functional, name)(x, n), x, getattr(t.nn.functional, name)(x.detach(), n)), x)


def test_conv_tbc():
    x, w, b = (torch.randn(s, generator=torch.manual_seed(1), requires_grad=True) for s in ((4, 2, 3), (2, 3, 5), (5,)))
    for pad in (0, 1, 3, -1):
        assert_same(lambda t, x, w, b: t.conv_tbc(x, w, b, pad), x, w, b)
        assert_same(lambda t, x, w, b: t.conv_tbc(x, w, b, pad), *((v.detach() * 3).int() for v in (x, w, b)))
    for bad in ((x[0], w, b), (x, w[0], b), (x, w, b[:3]), (x, w[:, :2], b), (x, w, b[None]), (x[:1], w, b), (x[:0], w, b), (x[:, :, :0], w[:, :0], b)):
        assert_same(lambda t, x, w, b: t.conv_tbc(x, w, b), *(v.detach() for v in bad))


def test_bilinear():
    x, y, w, b = (torch.randn(s, generator=torch.manual_seed(2), requires_grad=True) for s in ((2, 4, 3), (2, 4, 5), (6, 3, 5), (6,)))
    assert_same(lambda t, *v: t.bilinear(*v), x, y, w, b)
    assert_same(lambda t, *v: t.nn.functional.bilinear(*v), x, y, w)
    for bad in ((x[0], y, w), (x[:1], y, w), (x, x, w), (x, y, w[:, :2]), (x, y, w[0]), (x, y, w[None]), (x[..., :0], y, w[:, :0]), (x, y, w, b[:2])):
        assert_same(lambda t, *v: t.bilinear(*v), *(v.detach() for v in bad))


def test_conv_tbc_has_the_dtype_of_its_input():
    for bias in (torch.ones(2, dtype=torch.uint8), torch.full((2,), 300.7, dtype=torch.float64)):
        assert_same(lambda t, b: t.conv_tbc(t.ones(3, 2, 3, dtype=t.int64), t.ones(2, 3, 2, dtype=t.int64), b, 1), bias)
        assert_same(lambda t, b: t.conv_tbc(t.ones(3, 2, 3), t.ones(2, 3, 2), b), bias)
