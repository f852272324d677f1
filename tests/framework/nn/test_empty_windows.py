"""Pooling windows that dilation leads past every element: PyTorch's answers, and gradients that stay in memory."""

import pytest
import torch
import weir

CALLS = {
    "1d": lambda t, x: t.nn.functional.max_pool1d(x.reshape(2, 2, 1), 2, 2, 1, 2, True, True),
    "2d": lambda t, x: t.nn.functional.max_pool2d(x.reshape(1, 1, 1, 4), (2, 2), (2, 2), (1, 0), (2, 1), True, True),
    "3d": lambda t, x: t.nn.functional.max_pool3d(x.reshape(4, 1, 1, 1, 1), 2, 2, 1, 2, True, True),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "int64"])
@pytest.mark.parametrize("name", CALLS)
def test_an_empty_window_has_the_lowest_value_and_pytorchs_index(name, dtype):
    def found(t):
        values, indices = CALLS[name](t, t.arange(4).to(getattr(t, dtype)))
        return values.double().flatten().tolist(), indices.flatten().tolist()

    assert found(weir) == found(torch)


@pytest.mark.parametrize("name", CALLS)
def test_an_empty_window_sends_no_gradient(name):
    x = weir.arange(4).bfloat16().requires_grad_()
    CALLS[name](weir, x)[0].sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 0]
