"""Weights in another order of axes."""

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
