"""Fractional max pooling: refusals, odd samples, seeds; its values are compared in test_module_database."""

import pytest
import torch
import weir
from twins import assert_close, to_weir


@pytest.mark.parametrize("spoil", [dict(output_size=9), dict(samples=(1, 3, 2)), dict(samples=(2, 3, 1))])
def test_fractional_pooling_refuses(spoil):
    samples = weir.rand(spoil.get("samples", (2, 3, 2)))
    with pytest.raises(RuntimeError):
        weir.nn.functional.fractional_max_pool2d(weir.randn(2, 3, 8, 8), spoil.get("kernel_size", 2),
                                                 output_size=spoil.get("output_size", 4), _random_samples=samples)


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
