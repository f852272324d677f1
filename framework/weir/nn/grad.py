"""Gradients of convolutions by their inputs and weights. Source: torch.nn.grad."""
import weir
from weir.nn import functional as F


def _gradient(conv, which, make, other, grad_output, stride, padding, dilation, groups):
    recorded = weir.is_grad_enabled() and (other.requires_grad or grad_output.requires_grad)
    with weir.enable_grad():
        leaf = weir.zeros(tuple(make), dtype=grad_output.dtype).requires_grad_()
        out = conv(*((leaf, other) if which == "input" else (other, leaf)), None, stride, padding, dilation, groups)
        return weir.autograd.grad(out, leaf, grad_output, create_graph=recorded)[0]


def _pair(n):
    conv = getattr(F, f"conv{n}d")

    def by_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return _gradient(conv, "input", input_size, weight, grad_output, stride, padding, dilation, groups)

    def by_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
        return _gradient(conv, "weight", weight_size, input, grad_output, stride, padding, dilation, groups)
    by_input.__doc__ = f"The gradient of conv{n}d by its input, of shape input_size."
    by_weight.__doc__ = f"The gradient of conv{n}d by its weight, of shape weight_size."
    return by_input, by_weight


conv1d_input, conv1d_weight = _pair(1)
conv2d_input, conv2d_weight = _pair(2)
conv3d_input, conv3d_weight = _pair(3)
