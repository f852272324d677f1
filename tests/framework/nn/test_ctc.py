"""ctc_loss against PyTorch's (kernels/cpu/ctc.cpp), and fractional pooling's refusals (kernels/cpu/fractional.cpp)."""

import pytest
import torch
import weir
from twins import assert_close, to_weir


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_values_and_gradients(reduction, joined, zero_infinity):
    logits = torch.randn(7, 4, 5, dtype=torch.float64, requires_grad=True)
    own = to_weir(logits)
    lengths, targets = torch.tensor([3, 1, 0, 4]), torch.randint(1, 5, (4, 4))
    targets[0, :2] = 3  # a repeated label needs a blank between
    given = torch.cat([row[:n] for row, n in zip(targets, lengths)]) if joined else targets
    steps = torch.tensor([7, 5, 3, 3])  # the last is too short for its target
    args = {"reduction": reduction, "zero_infinity": zero_infinity}
    expected = torch.nn.functional.ctc_loss(logits.log_softmax(2), given, steps, lengths, **args)
    actual = weir.nn.functional.ctc_loss(own.log_softmax(2), to_weir(given), to_weir(steps), to_weir(lengths), **args)
    assert_close(actual, expected, rtol=1e-9)
    if zero_infinity:
        expected.sum().backward(), actual.sum().backward()
        assert_close(own.grad, logits.grad, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("spoil", [
    dict(blank=9), dict(steps=[8, 7]), dict(steps=[7, -1]), dict(lengths=[2, 4]), dict(lengths=[-1, 2]), dict(steps=[7]), dict(target=7),
    dict(target=-1)])
def test_nothing_out_of_range_is_read(spoil):
    targets = weir.full((2, 3), spoil.get("target", 1), dtype=weir.int64)
    with pytest.raises(RuntimeError):
        weir.nn.functional.ctc_loss(weir.randn(7, 2, 5).log_softmax(2), targets, spoil.get("steps", [7, 7]),
                                    spoil.get("lengths", [2, 3]), blank=spoil.get("blank", 0))


@pytest.mark.parametrize("spoil", [dict(kernel_size=0), dict(output_size=9), dict(output_size=0), dict(samples=(1, 3, 2)), dict(samples=(2, 3, 1))])
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
