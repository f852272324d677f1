"""Operands of two devices: a number on the CPU goes with any, nothing else does. And the device of a scope, on which new tensors are made."""

import pytest
import torch
import weir
from hypothesis import given, settings, strategies

OPERANDS = strategies.tuples(strategies.sampled_from([(), (3,), (1,)]), strategies.sampled_from(["cpu", "meta"]))


@settings(deadline=None)
@given(strategies.lists(OPERANDS, min_size=2, max_size=3))
def test_as_pytorch(operands):
    def device(W):
        tensors = [W.ones(shape, device=where) for shape, where in operands]
        try:
            return (W.add(*tensors) if len(tensors) == 2 else W.addcmul(*tensors)).device.type
        except RuntimeError:
            return "refused"
    assert device(weir) == device(torch)


def test_a_number_of_another_device_is_refused():
    with pytest.raises(RuntimeError, match="same device"):
        weir.ones(3) * weir.ones((), device="meta")


MADE = {
    "as_tensor": lambda t, x: t.as_tensor([1.0]), "as_tensor of a tensor": lambda t, x: t.as_tensor(x), "asarray": lambda t, x: t.asarray([1]), "hann_window": lambda t, x: t.hann_window(3, periodic=False),
    "kaiser_window": lambda t, x: t.kaiser_window(3), "bartlett_window": lambda t, x: t.bartlett_window(3), "empty_permuted": lambda t, x: t.empty_permuted((2, 3), (1, 0)),
    "range": lambda t, x: t.range(0, 3), "tril_indices": lambda t, x: t.tril_indices(3, 3), "triu_indices": lambda t, x: t.triu_indices(3, 3, device="cpu"), "eye": lambda t, x: t.eye(2),
    "new_zeros": lambda t, x: x.new_zeros(2), "zeros_like": lambda t, x: t.zeros_like(x),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MADE)
def test_the_device_of_a_scope(name):
    def made(t):
        x = t.ones(2)
        with t.device("meta"):
            return str(MADE[name](t, x).device)
    assert made(weir) == made(torch)
