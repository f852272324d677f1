"""ctc_loss against PyTorch's."""

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
