"""Tensors that get another size in place, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

TEMPLATES = {
    "smaller": lambda t: t.ones(2, 2), "of the same shape": lambda t: t.ones(3, 4), "of the same shape, turned": lambda t: t.ones(4, 3).t(), "of no axes": lambda t: t.ones(()),
    "of nothing": lambda t: t.ones(0, 3), "of channels": lambda t: t.ones(1, 2, 2, 3).to(memory_format=t.channels_last), "of another dtype": lambda t: t.ones(2, dtype=t.int64),
    "no tensor": lambda t: (2, 2),
}
FORMATS = [None, "preserve_format", "contiguous_format", "channels_last"]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("memory_format", FORMATS)
def test_resize_as_(template, memory_format):
    def call(t, x):
        x = x * 1
        options = {} if memory_format is None else {"memory_format": getattr(t, memory_format)}
        resized = x.resize_as_(TEMPLATES[template](t), **options)
        assert resized is x
        return [resized, t.tensor(x._version), t.resize_as_(x, t.ones(2, 1))]
    assert_same(call, torch.arange(12.0).reshape(3, 4))


def test_memory_grows():
    x = weir.arange(3.0)[1:]
    assert x.resize_as_(weir.ones(2, 5)).shape == (2, 5) and x[0, :2].tolist() == [1, 2]


def test_what_requires_a_gradient_keeps_its_size():
    assert_same(lambda t, x: x.resize_as_(t.ones(2)), torch.ones(3, requires_grad=True))
