"""Fractional max pooling: refusals, odd samples, seeds; its values are compared in test_module_database."""

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir


@pytest.mark.parametrize("spoil", [dict(output_size=9), dict(samples=(1, 3, 2)), dict(samples=(2, 3, 1))])
def test_fractional_pooling_refuses(spoil):
    samples = weir.rand(spoil.get("samples", (2, 3, 2)))
    with pytest.raises(RuntimeError):
        weir.nn.functional.fractional_max_pool2d(weir.randn(2, 3, 8, 8), spoil.get("kernel_size", 2),
                                                 output_size=spoil.get("output_size", 4), _random_samples=samples)


@pytest.mark.parametrize("ratio", [float("nan"), float("inf"), 1e300])
def test_fractional_pooling_refuses_ratios_that_give_no_size(ratio):
    with pytest.raises(ValueError, match="output_ratio to give a size"):
        weir.nn.functional.fractional_max_pool2d(weir.randn(1, 3, 9, 9), 3, output_ratio=(0.5, ratio))


@pytest.mark.parametrize("sizes", [dict(kernel_size=2 ** 70, output_ratio=(0.5, 0.5)), dict(kernel_size=2, output_size=2 ** 70)])
def test_fractional_pooling_refuses_a_number_of_more_than_64_bits(sizes):
    for t in (torch, weir):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            t.nn.functional.fractional_max_pool2d(t.ones(1, 3, 9, 9), **sizes)


def test_fractional_pooling_of_samples_outside_of_their_range():
    for value in (-5.0, 7.0, float("nan"), 1e30):
        weir.nn.functional.fractional_max_pool2d(weir.randn(1, 1, 8, 8), 2, output_size=4, _random_samples=weir.full((1, 1, 2), value))


def test_the_same_seed_pools_the_same_windows():
    x = torch.randn(2, 3, 9, 9)
    torch.manual_seed(4), weir.manual_seed(4)
    assert_close(weir.nn.FractionalMaxPool2d(2, output_ratio=0.6)(to_weir(x)), torch.nn.FractionalMaxPool2d(2, output_ratio=0.6)(x))


def test_windows_that_do_not_fit_are_refused_without_channels_too():
    for t in (torch, weir):
        with pytest.raises(RuntimeError, match="too large relative to input"):
            t.nn.functional.fractional_max_pool3d(t.zeros(0, 4, 7, 5), [3, 3, 2], [2, 1, 1])
        assert t.nn.functional.fractional_max_pool2d(t.zeros(0, 4, 7), 3, [2, 5]).shape == (0, 2, 5)
        assert t.nn.functional.fractional_max_pool3d(t.zeros(0, 5, 7, 5), [3, 3, 2], [2, 1, 1]).shape == (0, 2, 1, 1)


CALLS = {
    "by ratios": lambda F, x, s: F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.7), _random_samples=s, return_indices=True),
    "of one image": lambda F, x, s: F.fractional_max_pool2d(x[0], (2, 3), output_size=(3, 4), _random_samples=s[:1]),
    "with indices": lambda F, x, s: F.fractional_max_pool2d_with_indices(x, 2, 3, _random_samples=s),
    "of volumes": lambda F, x, s: F.fractional_max_pool3d(x[None], 2, 1, _random_samples=s.new_full((1, 2, 3), 0.3)),
    "a kernel of one axis": lambda F, x, s: F.fractional_max_pool2d(x, (2,), 3, _random_samples=s),
    "a size of three axes": lambda F, x, s: F.fractional_max_pool2d(x, 2, (3, 3, 3), _random_samples=s),
    "no size": lambda F, x, s: F.fractional_max_pool2d(x, 2, _random_samples=s),
    "no kernel": lambda F, x, s: F.fractional_max_pool3d(x[None], 0, 1, _random_samples=s.new_full((1, 2, 3), 0.3)),
    "a vector": lambda F, x, s: F.fractional_max_pool2d(x[0, 0, 0], 2, 3),
    "a vector and samples": lambda F, x, s: F.fractional_max_pool2d(x[0, 0, 0], 2, 3, _random_samples=s),
    "samples that require grad": lambda F, x, s: F.fractional_max_pool2d(x, 2, 3, _random_samples=s.clone().requires_grad_()),
    "integers": lambda F, x, s: F.fractional_max_pool2d(x.detach().long(), 2, 3, _random_samples=s),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    x = torch.randn(2, 3, 7, 8, generator=torch.manual_seed(0)).requires_grad_()
    assert_same(lambda t, x, s: CALLS[name](t.nn.functional, x, s), x, torch.rand(2, 3, 2), order=1)


@pytest.mark.parametrize("given", [dict(kernel_size=0, output_size=1), dict(kernel_size=(1, 0, 2), output_size=1), dict(kernel_size=2)])
def test_volumes_need_a_kernel(given):
    for t in (torch, weir):
        with pytest.raises(ValueError):
            t.nn.FractionalMaxPool3d(**given)


def test_autocast_pools_in_single_precision():
    for t in (torch, weir):
        with t.autocast("cpu", dtype=t.bfloat16):
            assert t.nn.functional.fractional_max_pool2d(t.ones(1, 1, 4, 4).bfloat16(), 2, 2).dtype == t.float32


def test_fractional_pooling_asks_for_a_size_first():
    for t in (torch, weir):
        with pytest.raises(ValueError):
            t.nn.functional.fractional_max_pool2d(t.ones(1, 3, 9, 9), False, return_indices=True)
