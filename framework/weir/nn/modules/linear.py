"""Linear maps and shape changes as modules."""

import math

import weir
import weir.nn.functional as F
from weir.nn import init
from weir.nn.parameter import Parameter

from ._fields import Fields
from .module import Module

__all__ = ["Bilinear", "Flatten", "Identity", "Linear", "Unflatten"]


class Identity(Module):
    """Hands its input on; takes and ignores any arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Fields):
    """x W^T + b. Shapes: (*, in_features) -> (*, out_features). W and b start uniform in +-1/sqrt(in_features)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(weir.empty((out_features, in_features), **options))
        self.register_parameter("bias", Parameter(weir.empty(out_features, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            init.uniform_bias_(self.bias, self.weight)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1^T W_k x2 + b_k. Shapes: (*, in1_features), (*, in2_features) -> (*, out_features)."""

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device=None, dtype=None):
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        options = {"device": device, "dtype": dtype}
        self.weight = Parameter(weir.empty((out_features, in1_features, in2_features), **options))
        if in1_features == 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.register_parameter("bias", Parameter(weir.empty(out_features, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
                f"out_features={self.out_features}, bias={self.bias is not None}")


class Flatten(Fields):
    """Axes start_dim to end_dim made one."""

    _shown = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self._keep(locals())

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Fields):
    """Axis `dim` split into `unflattened_size`."""

    _shown = ("dim", "unflattened_size")

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if not isinstance(dim, (int, str)):
            raise TypeError("invalid argument type for dim parameter")
        sizes = unflattened_size
        if not isinstance(sizes, (tuple, list)) or not all(isinstance(s, int) for s in sizes):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}")
        self._keep(locals())

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
