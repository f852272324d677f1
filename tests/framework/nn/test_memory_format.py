"""Weights in another order of axes."""

import itertools
import math

import pytest
import torch
import weir


def test_weights_of_convolutions_take_the_memory_format():
    net = weir.nn.Sequential(weir.nn.Conv2d(3, 4, 3), weir.nn.Linear(2, 2), weir.nn.Conv3d(3, 4, 2))
    before, parameter = net[0].weight.detach().clone(), net[0].weight
    assert weir.nn.utils.convert_conv2d_weight_memory_format(net, weir.channels_last) is net
    weir.nn.utils.convert_conv3d_weight_memory_format(net, weir.channels_last_3d)
    assert net[0].weight is parameter and parameter.is_contiguous(memory_format=weir.channels_last)
    assert net[2].weight.is_contiguous(memory_format=weir.channels_last_3d)
    assert weir.equal(net[0].weight, before)
    weir.testing.assert_close(net[0](weir.ones(1, 3, 5, 5)), weir.nn.functional.conv2d(weir.ones(1, 3, 5, 5), before, net[0].bias))


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("size", [(1, 2, 3, 1), (2, 2, 1, 1), (1, 1, 2, 3), (2, 3, 2, 2), (1, 2, 1, 3), (1, 2, 3, 1, 1)], ids=str)
def test_batch_norm_keeps_the_order_of_axes_that_pytorch_keeps(size, train):
    """Of axes of size 1 too, whose strides are no memory's."""
    for order in itertools.permutations(range(len(size))):
        seen = []
        for F in (weir, torch):
            numbers = F.arange(float(math.prod(size))).reshape([size[d] for d in order])
            x = numbers.permute([order.index(d) for d in range(len(size))]).requires_grad_()
            norm = (F.nn.BatchNorm2d if len(size) == 4 else F.nn.BatchNorm3d)(size[1]).train(train)
            y = norm(x)
            gradients = [F.autograd.grad(norm(x), x, dy)[0].stride() for dy in (F.ones_like(y), F.ones(size))]
            seen.append((x.stride(), y.stride(), gradients))
        assert seen[0] == seen[1], order
