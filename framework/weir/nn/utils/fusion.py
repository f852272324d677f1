"""Batch norms in evaluation folded into the layer before. Source: torch.nn.utils.fusion."""
import copy

import weir


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """(weight, bias) of a convolution that does both. Shapes: as the convolution's."""
    conv_b = weir.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = weir.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = weir.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * weir.rsqrt(bn_rv + bn_eps)
    shape = [1, -1] + [1] * (conv_w.dim() - 2) if transpose else [-1] + [1] * (conv_w.dim() - 1)
    weight = conv_w * scale.reshape(shape)
    bias = (conv_b - bn_rm) * scale + bn_b
    return weir.nn.Parameter(weight, conv_w.requires_grad), weir.nn.Parameter(bias, conv_b.requires_grad)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A copy of conv that does both. AssertionError unless both are in evaluation mode."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight,
                                                    bn.bias, transpose)
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """(weight, bias) of a linear layer that does both."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear, bn):
    """A copy of linear that does both. AssertionError unless both are in evaluation mode."""
    return fuse_conv_bn_eval(linear, bn)
