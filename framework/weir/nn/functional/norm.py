"""Normalisations."""

import math

from weir._ops import has_op, op

from ._check import check_tensor

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm"]

_batch_norm = op("hidden", "batch_norm")
layer_norm = op("nn.functional" if has_op("nn.functional", "layer_norm") else "torch", "layer_norm")
rms_norm = op("torch", "rms_norm")
local_response_norm = op("nn.functional", "local_response_norm")
_instance_norm = op("torch", "instance_norm")
_group_norm = op("nn.functional" if has_op("nn.functional", "group_norm") else "torch", "group_norm")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """(x - mean) / sqrt(var + eps) * weight + bias per channel (axis 1) of (N, C, *).

    In training the statistics are the batch's and the running ones are updated in place. Raises ValueError when
    training has one value per channel. Source: Ioffe & Szegedy 2015.
    """
    if training:
        _verify_batch_size(input.shape)
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if input.dim() == 1 and input.numel() == 0:
        return input.clone()  # PyTorch's: an empty batch needs no channels
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def _verify_batch_size(size):
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _verify_spatial_size(size):
    if math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    """Batch norm of every sample by itself. Source: Ulyanov et al. 2016."""
    check_tensor("instance_norm", input)
    if use_input_stats:
        _verify_spatial_size(input.shape)
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Layer norm of every group of channels of (N, C, *). Source: Wu & He 2018."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    _verify_batch_size((input.shape[0] * input.shape[1] // num_groups if num_groups else 0, num_groups, *input.shape[2:]))
    return _group_norm(input, num_groups, weight, bias, eps)
