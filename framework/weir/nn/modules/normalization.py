"""Layer, RMS, group and local response normalisation modules."""

import weir
import weir.nn.functional as F
from weir.nn.parameter import Parameter

from ._fields import Fields

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LayerNorm(Fields):
    """Normalises over the last axes `normalized_shape`. Source: Ba et al. 2016."""

    def __init__(self, normalized_shape, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device=None, dtype=None):
        super().__init__()
        sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = sizes, eps, elementwise_affine
        options = {"device": device, "dtype": dtype}
        affine = elementwise_affine
        self.register_parameter("weight", Parameter(weir.empty(sizes, **options)) if affine else None)
        self.register_parameter("bias", Parameter(weir.empty(sizes, **options)) if affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1, bias 0."""
        if self.weight is not None:
            weir.nn.init.ones_(self.weight)
        if self.bias is not None:
            weir.nn.init.zeros_(self.bias)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Fields):
    """Scales by the root mean square over the last axes. Source: Zhang & Sennrich 2019."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine: bool = True, device=None, dtype=None):
        super().__init__()
        sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = sizes, eps, elementwise_affine
        weight = Parameter(weir.empty(sizes, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1."""
        if self.elementwise_affine:
            weir.nn.init.ones_(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Fields):
    """Normalises groups of channels of (N, C, *). Source: Wu & He 2018."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device=None, dtype=None, *,
                 bias: bool = True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        options = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(weir.empty(num_channels, **options)) if affine else None)
        self.register_parameter("bias", Parameter(weir.empty(num_channels, **options)) if affine and bias else None)
        self.reset_parameters()

    reset_parameters = LayerNorm.reset_parameters

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class _ResponseNorm(Fields):
    """Divides by the energy of neighbouring channels. Source: Krizhevsky et al. 2012."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self._keep(locals())

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class LocalResponseNorm(_ResponseNorm):
    """Divides by the energy of neighbouring channels. Shape: (N, C, *), kept."""

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_ResponseNorm):
    """The older LocalResponseNorm of (N, C, H, W), whose windows PyTorch counts in its own way."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1):
        super().__init__(size, alpha, beta, k)

    def forward(self, input):
        return _CrossMapNorm.apply(input, self.size, self.alpha, self.beta, self.k)


class _CrossMapNorm(weir.autograd.Function):
    """Sums over windows that slide from channel to channel, an addition and a subtraction each, so that a NaN stays.

    Source: PyTorch's, in both directions. Channel 0 never leaves the sum, and the gradient is that of other windows.
    """

    @staticmethod
    def forward(ctx, input, size, alpha, beta, k):
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        squares = input.square().unbind(1)
        channels, ahead = len(squares), int((size - 1) / 2 + 1)
        total = sum(squares[1:ahead], squares[0])
        totals = [total]
        for c in range(1, channels):
            if c + ahead <= channels:
                total = total + squares[c + ahead - 1]
            if c > ahead:
                total = total - squares[c - ahead]
            totals.append(total)
        scale = weir.stack(totals, 1) * (alpha / size) + k
        output = scale ** -beta * input
        ctx.save_for_backward(input, output, scale)
        ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
        return output

    @staticmethod
    def backward(ctx, grad):
        input, output, scale = ctx.saved_tensors
        channels, size = input.shape[1], ctx.size
        ratio = grad * output / scale
        before = int(size - (size - 1) / 2)
        padded = weir.zeros(len(input), channels + size - 1, *input.shape[2:], dtype=ratio.dtype)
        padded.narrow(1, before, channels).copy_(ratio)  # raises RuntimeError for size 1, as in PyTorch
        total = sum((padded.select(1, c) for c in range(size - 1)), weir.zeros_like(ratio.select(1, 0)))
        totals = []
        for c in range(channels):
            total = total + padded.select(1, c + size - 1)
            totals.append(total)
            total = total - padded.select(1, c)
        factor = 2 * ctx.alpha * ctx.beta / size
        return scale ** -ctx.beta * grad - factor * input * weir.stack(totals, 1), None, None, None, None


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
