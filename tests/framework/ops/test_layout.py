"""Strides of axes of size 1: they carry no element, but decide what counts as channels_last, and so the layout of what
convolutions make and the order in which dropout draws."""
import pytest
import torch
import weir

CALLS = {
    "number": "x * 2", "numbers": "(x - .13) / .3", "reflected": "1 - x", "compared": "x > 0", "broadcast": "x * t.ones(1, 1, 1, 3)",
    "scalar tensor": "t.maximum(x, t.tensor(1.))", "where": "t.where(x > 0, x, 0.)", "power": "x ** 2", "clamped": "x.clamp(0, 1)",
    "unary": "-x", "same shapes": "x + x", "filled": "x.masked_fill(x > 0, 1)", "flipped": "(x * 2).flip(2)", "cloned": "(x * 2).clone()",
    "alike": "t.empty_like(x * 2)", "cast": "(x * 2).to(t.float64)", "hardtanh": "t.nn.functional.relu6(x * 2)",
    "convolved": "t.nn.Conv2d(1, 4, 3)(x * 2)", "pooled": "t.nn.MaxPool2d(2)(t.nn.Conv2d(1, 4, 2)(x * 2))",
    "normalised": "t.nn.BatchNorm2d(4)(t.nn.Conv2d(1, 4, 2)(x * 2))", "padded": "t.nn.functional.pad(x * 2, (1, 1))",
    "viewed": "t.randn(2, 1, 16).transpose(1, 2).reshape(2, 16, 1, 1)",
    "resized": "t.nn.functional.interpolate(t.randn(2, 1, 16).transpose(1, 2).reshape(2, 16, 1, 1), size=(4, 4), mode='bilinear')",
    "diagonal": "t.ones(1, 3).diag()", "diagonal matrix": "t.ones(1).diagflat()"}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_strides_are_pytorchs(call):
    ours, theirs = (eval(call, {"t": t, "x": t.ones(5, 1, 4, 3)}).stride() for t in (weir, torch))
    assert ours == theirs


def test_dropout_draws_in_memory_order():
    def masked(t):
        t.manual_seed(0)
        features = t.nn.functional.conv2d(t.ones(2, 1, 6, 6) * 2, t.ones(4, 1, 3, 3))
        return t.nn.functional.dropout(features, 0.5).tolist()

    assert masked(weir) == masked(torch)
