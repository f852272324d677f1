"""Convolutions: the core's ops, whose signatures are PyTorch's."""

from weir._ops import op

__all__ = ["conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]

conv1d = op("nn.functional", "conv1d")
conv2d = op("nn.functional", "conv2d")
conv3d = op("nn.functional", "conv3d")
conv_transpose1d = op("nn.functional", "conv_transpose1d")
conv_transpose2d = op("nn.functional", "conv_transpose2d")
conv_transpose3d = op("nn.functional", "conv_transpose3d")
conv_tbc = op("torch", "conv_tbc")
