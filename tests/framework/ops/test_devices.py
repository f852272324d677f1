"""Operands of two devices: a number on the CPU goes with any, nothing else does."""

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
