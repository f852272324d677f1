"""Batch norm, ReLU and a max pool as one node, framework/ops/batch_norm_pool.cpp and framework/kernels/cpu/batch_norm_pool.cpp: eager mode's bits."""

import pytest
import weir
from weir import nn
from weir.nn import functional as F

from tests.framework.graph.test_batch_norm import arguments, assert_same, hidden, ops, planned, trained_alike

HALVES = [weir.float32, weir.bfloat16, weir.float16]
WINDOWS = [(3, 2, 1), (2, 2, 0), (3, 1, 1), ((2, 4), (3, 1), (1, 2)), (5, 7, 2), ((15, 17), 1, (7, 8))]


def pooled(x, w, b, mean, var, dy, window=(3, 2, 1), training=True, **kwargs):
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    y = F.max_pool2d(F.relu(F.batch_norm(x, mean, var, w, b, training)), *window, **kwargs)
    return y, *weir.autograd.grad(y, (x, w, b), weir.empty_like(y).copy_(dy.flatten()[:y.numel()].view(y.shape)))


def pictures(shape=(3, 20, 9, 8), dtype=weir.bfloat16, special=False, layout=weir.channels_last):
    return arguments(shape, dtype, layout, special)


def is_joined(plan):
    made = ops(plan)
    assert ("batch_norm_relu_max_pool" in made) == ("batch_norm_relu_max_pool_backward" in made) == ("max_pool_nd" not in made)
    return "batch_norm_relu_max_pool" in made


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize("shape", [(3, 20, 15, 18), (2, 64, 17, 17), (1, 150, 16, 19), (40, 16, 15, 17)], ids=str)
def test_a_pool_joins(shape, window, dtype, special):
    assert is_joined(planned(lambda *args: pooled(*args, window), lambda: pictures(shape, dtype, special)))


def test_few_numbers_a_channel():
    assert is_joined(planned(lambda *args: pooled(*args, (2, 2, 1)), lambda: pictures((2, 16, 2, 3), special=True)))


@pytest.mark.parametrize("kwargs", [{"ceil_mode": True}, {"dilation": 2}], ids=str)
def test_other_windows_stay_apart(kwargs):
    assert not is_joined(planned(lambda *args: pooled(*args, **kwargs), pictures))


@pytest.mark.parametrize("given", [{"shape": (3, 15, 9, 8)}, {"dtype": weir.float64}, {"layout": weir.contiguous_format}], ids=str)
def test_other_pictures_stay_apart(given):
    assert not is_joined(planned(pooled, lambda: pictures(**given)))


def test_evaluation_stays_apart():
    assert not is_joined(planned(lambda *args: pooled(*args, training=False), pictures))


@pytest.mark.parametrize("reader", ["relu", "indices", "gradient"])
def test_what_others_read_is_made(reader):
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        relu = F.relu(F.batch_norm(x, mean, var, w, b, True))
        y, indices = F.max_pool2d(relu, 3, 2, 1, return_indices=True)
        gradients = weir.autograd.grad(y.sum(), (x, relu) if reader == "gradient" else x)
        return {"relu": (relu,), "indices": (indices,), "gradient": ()}[reader] + gradients
    assert not is_joined(planned(f, pictures))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("order", ["alike", "input", "gradient", "places", "weights with gaps"])
def test_the_ops_in_any_layout(dtype, order):
    x, w, b, mean, var, _ = pictures(dtype=dtype, special=True)
    window = [3, 3], [2, 2], [1, 1]
    last = x  # the order in which both add
    if order == "input":
        x = x.contiguous()
    if order == "weights with gaps":
        w, b = (weir.stack([t, t], -1)[:, 0] for t in (w, b))
    tracked = mean.clone(), var.clone()
    y, places, m, s = hidden["batch_norm_relu_max_pool"](x, w, b, *tracked, 0.1, 1e-5, *window)
    relu, *expected = hidden["batch_norm_relu"](last, w, b, mean, var, *[None] * 5, True, 0.1, 1e-5)
    largest, indices = hidden["max_pool_nd"](relu, *window, [1, 1], False)
    assert_same([y.contiguous(), m, s, *tracked], [largest.contiguous(), *expected, mean, var])
    dy = weir.randn(y.shape).to(dtype=dtype, memory_format=weir.contiguous_format if order == "gradient" else weir.channels_last)
    if order == "places":
        places = places.contiguous()
    dx = hidden["max_pool_backward"](dy, indices, list(x.shape))
    wanted = hidden["batch_norm_relu_backward"](dx.contiguous(memory_format=weir.channels_last), last, m, s, w, b, 1e-5)
    got = hidden["batch_norm_relu_max_pool_backward"](dy, places, x, m, s, w, b, 1e-5, *window)
    assert_same([t.contiguous() for t in got], [t.contiguous() for t in wanted])


def test_places_of_no_window_are_read_as_none():
    x, w, b, mean, var, _ = pictures()
    y, places, m, s = hidden["batch_norm_relu_max_pool"](x, w, b, mean, var, 0.1, 1e-5, [3, 3], [2, 2], [1, 1])
    dx, _, db = hidden["batch_norm_relu_max_pool_backward"](y, places.fill_(255), x, m, s, w, b, 1e-5, [3, 3], [2, 2], [1, 1])
    assert not dx.any() and not db.any()


@pytest.mark.parametrize("given, window, message", [
    ({"shape": (3, 15, 9, 8)}, ([3, 3], [2, 2], [1, 1]), "16 channels or more"),
    ({"dtype": weir.float64}, ([3, 3], [2, 2], [1, 1]), "float32 or half precision"),
    ({"shape": (3, 20, 9)}, ([3, 3], [2, 2], [1, 1]), "expected pictures"),
    ({}, ([16, 16], [2, 2], [8, 8]), "up to 255 places"),
    ({}, ([3, 3], [0, 2], [1, 1]), "a stride above 0"),
    ({}, ([3, 3], [2, 2], [1, 2]), "at most half of the kernel"),
    ({}, ([3, 3], [2], [1, 1]), "two numbers each"),
    ({}, ([15, 1], [2, 2], [1, 0]), "no smaller than the kernel"),
], ids=str)
def test_what_does_not_fit_is_refused(given, window, message):
    x, w, b, mean, var, _ = pictures(**given)
    with pytest.raises(RuntimeError, match=message):
        hidden["batch_norm_relu_max_pool"](x, w, b, mean, var, 0.1, 1e-5, *window)


def test_gradients_that_do_not_fit_are_refused():
    x, w, b, mean, var, _ = pictures()
    y, places, m, s = hidden["batch_norm_relu_max_pool"](x, w, b, mean, var, 0.1, 1e-5, [3, 3], [2, 2], [1, 1])
    for dy, p in [(y[1:], places), (y, places[1:]), (y, places.to(weir.int64)), (y.float(), places)]:
        with pytest.raises(RuntimeError, match="expected gradients and places of sizes"):
            hidden["batch_norm_relu_max_pool_backward"](dy, p, x, m, s, w, b, 1e-5, [3, 3], [2, 2], [1, 1])


@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16])
def test_a_stem_trains_as_in_eager_mode(dtype):
    def make():
        weir.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1),
                             nn.Conv2d(16, 8, 3), nn.Flatten(), nn.Linear(200, 5)).to(dtype=dtype, memory_format=weir.channels_last)
    assert is_joined(trained_alike(make, 28, dtype, weir.channels_last))
