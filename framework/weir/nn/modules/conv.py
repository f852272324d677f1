"""Convolution modules."""

import math

import weir
import weir.nn.functional as F
from weir.nn import init
from weir.nn.parameter import Parameter

from .module import Module

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_PAD_MODES = {"zeros", "reflect", "replicate", "circular"}


def _repeat(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


class _ConvNd(Module):
    """Weights and geometry common to all convolutions."""

    _rank, _function, transposed = 0, None, False

    def _setup(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
               device, dtype, output_padding=0):
        self._check(in_channels, out_channels, padding, stride, groups, padding_mode)
        n = self._rank
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (_repeat(v, n) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else _repeat(padding, n)
        self.output_padding, self.padding_mode = _repeat(output_padding, n), padding_mode
        self._reversed_padding_repeated_twice = self._pad_amounts()
        lead = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(weir.empty((*lead, *self.kernel_size), **options))
        self.register_parameter("bias", Parameter(weir.empty(out_channels, **options)) if bias else None)
        self.reset_parameters()

    @staticmethod
    def _check(in_channels, out_channels, padding, stride, groups, padding_mode):
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and any(s != 1 for s in _repeat(stride, 1)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PAD_MODES:
            raise ValueError(f"padding_mode must be one of {_PAD_MODES}, but got padding_mode='{padding_mode}'")

    def _pad_amounts(self):
        """(before, after) pairs from the last axis on, for modes that pad before they convolve."""
        if self.padding == "valid":
            return [0, 0] * self._rank
        if self.padding == "same":
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [p for t in reversed(totals) for p in (t // 2, t - t // 2)]
        return [p for p in reversed(self.padding) for _ in range(2)]

    def reset_parameters(self):
        """Draws weight and bias uniformly in +-1/sqrt(fan_in)."""
        if self.weight.is_contiguous():
            init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        else:  # the same numbers in every memory format
            with weir.no_grad():
                self.weight.copy_(init.kaiming_uniform_(weir.empty_like(self.weight, memory_format=weir.contiguous_format), a=math.sqrt(5)))
        if self.bias is not None:
            init.uniform_bias_(self.bias, self.weight)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode), 0
        return getattr(F, self._function)(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self):
        n = self._rank
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    """What a convolution is made with. `padding` may be 'same' or 'valid'."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        self._setup(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                    dtype)


class Conv1d(_Conv):
    """1-d convolution. Shapes: (N, C_in, L) -> (N, C_out, L')."""

    _rank, _function = 1, "conv1d"


class Conv2d(_Conv):
    """2-d convolution. Shapes: (N, C_in, H, W) -> (N, C_out, H', W'). `padding` may be 'same' or 'valid'."""

    _rank, _function = 2, "conv2d"


class Conv3d(_Conv):
    """3-d convolution. Shapes: (N, C_in, D, H, W) -> (N, C_out, D', H', W')."""

    _rank, _function = 3, "conv3d"


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution as a module; `output_padding` or `output_size` settles the size."""

    transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._setup(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
                    dtype, output_padding)

    def forward(self, input, output_size=None):
        padding = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, self._rank, self.dilation)
        return getattr(F, self._function)(input, self.weight, self.bias, self.stride, self.padding, padding, self.groups,
                                          self.dilation)

    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        # Modules of libraries that derive from these call it with PyTorch's arguments, though most stand in `self`.
        if output_size is None:
            return self.output_padding
        n, dilation = num_spatial_dims, dilation or [1] * num_spatial_dims
        lead = 2 if input.dim() == n + 2 else 1  # axes before those of the picture; of other inputs too, which the op refuses later
        wanted = output_size[lead:] if len(output_size) == lead + n else output_size
        if len(wanted) != n:
            raise ValueError(f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {lead + n} elements (got {len(wanted)})")
        smallest = [(input.size(lead + i) - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernel_size[i] - 1) + 1 for i in range(n)]
        if any(size < least or size > least + step - 1 for size, least, step in zip(wanted, smallest, stride)):
            largest = [least + step - 1 for least, step in zip(smallest, stride)]
            raise ValueError(f"requested an output size of {wanted}, but valid sizes range from {smallest} to {largest} "
                             f"(for an input of {input.shape[2:]})")
        return [size - least for size, least in zip(wanted, smallest)]


class _ConvTransposeMixin(_ConvTransposeNd):
    """The name of old, which programs import to ask for."""


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of a 1-d convolution as a module."""

    _rank, _function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of a 2-d convolution as a module."""

    _rank, _function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of a 3-d convolution as a module."""

    _rank, _function = 3, "conv_transpose3d"


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
