"""The old name of Tensor, beside PyTorch's."""
import pytest
import torch

import weir


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_a_variable_is_a_leaf_over_the_memory_of_its_data(t):
    made = (t.ones(2, requires_grad=True) * 2)
    v = t.autograd.Variable(made, requires_grad=True)
    assert v is not made and v.data_ptr() == made.data_ptr() and v.is_leaf and v.requires_grad
    assert not t.autograd.Variable(made).requires_grad and not t.autograd.Variable(t.nn.Parameter(made)).requires_grad
    assert type(v) is t.Tensor and t.autograd.Variable().numel() == 0


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_every_tensor_is_one_and_nothing_else_becomes_one(t):
    assert isinstance(t.ones(2), t.autograd.Variable) and not isinstance(1.0, t.autograd.Variable)
    for data in (1.0, [1.0]):
        with pytest.raises(TypeError, match="Variable data has to be a tensor"):
            t.autograd.Variable(data)
    with pytest.raises(RuntimeError, match="floating point"):
        t.autograd.Variable(t.ones(2, dtype=t.int32), requires_grad=True)
    with pytest.warns(UserWarning, match="volatile"):
        t.autograd.Variable(t.ones(2), volatile=True)
