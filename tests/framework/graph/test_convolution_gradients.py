"""Gradients of 1 x 1 convolutions, framework/graph/convolution_gradients.cpp and framework/kernels/cpu/line_products.h: as one node they are what they are alone."""

import pytest
import weir
from weir.nn import functional as F

from tests.framework.graph.test_batch_norm import assert_same, hidden, ops, planned


def parts(n=3, inputs=64, outputs=256, size=(9, 11), kernel=1, dtype=weir.bfloat16, layout=weir.channels_last, groups=1, stride=1):
    """Input, weight and gradient of a convolution's result."""
    weir.manual_seed(0)
    x, w = weir.randn(n, inputs, *size), weir.randn(outputs, inputs // groups, kernel, kernel)
    dy = weir.randn(F.conv2d(x, w, stride=stride, groups=groups).shape)
    return tuple(t.to(dtype=dtype, memory_format=layout) for t in (x, w, dy))


def gradients(x, w, dy, **options):
    x, w = (t.clone().requires_grad_() for t in (x, w))
    return weir.autograd.grad(F.conv2d(x, w, **options), (x, w), dy)


@pytest.mark.parametrize("given", [
    {}, {"size": (32, 32)}, {"n": 1, "size": (64, 65)}, {"inputs": 32, "outputs": 256, "size": (40, 31)}, {"inputs": 96, "outputs": 416, "size": (30, 30)},
    {"inputs": 256, "outputs": 1024, "size": (7, 7)}, {"inputs": 256, "outputs": 2048, "size": (7, 7)}, {"inputs": 64, "outputs": 300, "size": (30, 30)},
], ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_both_are_made_by_one_node(given, threads):
    before = weir.get_num_threads()
    weir.set_num_threads(threads)
    try:
        plan = planned(gradients, lambda: parts(**given))
    finally:
        weir.set_num_threads(before)
    made = ops(plan)
    assert "convolution_gradients" in made and "convolution_input" not in made and "convolution_weight" not in made


@pytest.mark.parametrize("given, options", [({"inputs": 128, "outputs": 256}, {}), ({"kernel": 3}, {}), ({"stride": 2}, {"stride": 2}), ({"groups": 2}, {"groups": 2}), ({"dtype": weir.float32}, {})], ids=str)
def test_others_stay_apart(given, options):
    assert "convolution_gradients" not in ops(planned(lambda *args: gradients(*args, **options), lambda: parts(**given)))


def test_what_needs_the_first_before_the_second_keeps_them_apart():
    def f(x, w, dy):
        dx = hidden["convolution_input"](dy, w, None, list(x.shape), [1, 1], [0, 0], [1, 1], 1)
        return dx, hidden["convolution_weight"](dx, dy, list(w.shape), [1, 1], [0, 0], [1, 1], 1)
    assert "convolution_gradients" not in ops(planned(f, parts))


@pytest.mark.parametrize("layout", [weir.contiguous_format, weir.channels_last])
@pytest.mark.parametrize("given", [
    {}, {"size": (32, 32)}, {"inputs": 128, "outputs": 96, "size": (20, 21)}, {"dtype": weir.float32}, {"dtype": weir.float64}, {"inputs": 128, "outputs": 64}, {"kernel": 3}, {"groups": 2}, {"stride": 2}, {"inputs": 3, "outputs": 5}, {"n": 0},
], ids=str)
def test_the_op_gives_what_the_two_give(given, layout):
    x, w, dy = parts(**given, layout=layout)
    rule = [given.get("stride", 1)] * 2, [0, 0], [1, 1], given.get("groups", 1)
    expected = hidden["convolution_input"](dy, w, None, list(x.shape), *rule), hidden["convolution_weight"](x, dy, list(w.shape), *rule)
    assert_same(hidden["convolution_gradients"](x, dy, w, *rule), expected)


@pytest.mark.parametrize("size", [(9, 11), (32, 32), (50, 50)], ids=str)
@pytest.mark.parametrize("outputs, inputs", [(256, 64), (1024, 256), (160, 32)])
def test_gradients_of_inputs_are_exact_but_for_a_rounding(outputs, inputs, size):
    x, w, dy = parts(2, inputs, outputs, size)
    got, _ = hidden["convolution_gradients"](x, dy, w, [1, 1], [0, 0], [1, 1], 1)
    exact = weir.einsum("noyx,oi->niyx", dy.double(), w.double()[:, :, 0, 0])
    scale = weir.einsum("noyx,oi->niyx", dy.double().abs(), w.double()[:, :, 0, 0].abs())
    assert ((got.double() - exact).abs() <= exact.abs() * 2**-8 + scale * 2**-20).all()


def test_numbers_that_are_not_finite_stay_in_their_places():
    x, w, dy = parts(2, 64, 256, (33, 33))
    dy[1, 3, 5, 7], dy[0, 2, 32, 32] = float("inf"), float("nan")
    dx, _ = hidden["convolution_gradients"](x, dy, w, [1, 1], [0, 0], [1, 1], 1)
    broken = ~dx.isfinite()
    assert broken[1, :, 5, 7].all() and broken[0, :, 32, 32].all() and broken.sum() == 2 * 64


def test_a_gradient_of_other_sizes_is_refused():
    x, w, dy = parts()
    with pytest.raises(RuntimeError, match="convolution_gradients: expected a gradient of sizes"):
        hidden["convolution_gradients"](x, dy[:, :, 1:], w, [1, 1], [0, 0], [1, 1], 1)
