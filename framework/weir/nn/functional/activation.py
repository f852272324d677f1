"""Activations: thin forms that add `inplace` to the core's ops, and the few written as formulas."""

import warnings

from weir._ops import has_op, op

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_",
    "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign",
    "tanh", "tanhshrink", "threshold", "threshold_",
]

_LOWER, _UPPER = 1.0 / 8, 1.0 / 3  # rrelu's default slopes, Xu et al. 2015

# Pairs of an op and its in-place form, indexed by `inplace`.
_relu, _selu, _celu, _threshold, _rrelu = ((op("torch", n), op("torch", n + "_")) for n in ("relu", "selu", "celu", "threshold", "rrelu"))
_hardtanh, _leaky_relu, _elu, _silu, _mish, _hardsigmoid, _hardswish = (
    (op("nn.functional", n), op("nn.functional", n + "_"))
    for n in ("hardtanh", "leaky_relu", "elu", "silu", "mish", "hardsigmoid", "hardswish"))
gelu = op("nn.functional", "gelu")
softplus, glu, softsign, tanhshrink, gumbel_softmax = (op("nn.functional", n) for n in ("softplus", "glu", "softsign", "tanhshrink", "gumbel_softmax"))
softshrink = op("nn.functional", "softshrink")
logsigmoid = op("nn.functional" if has_op("nn.functional", "logsigmoid") else "torch", "logsigmoid")
hardshrink = op("torch", "hardshrink")
prelu = op("torch", "prelu")
sigmoid = op("torch", "sigmoid")
tanh = op("torch", "tanh")
_softmax, _log_softmax = op("torch", "softmax"), op("torch", "log_softmax")


def relu(input, inplace=False):
    """max(x, 0). Shape: as input."""
    return _relu[bool(inplace)](input)


def relu6(input, inplace=False):
    """min(max(x, 0), 6). Shape: as input."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]. Raises ValueError when min_val > max_val."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _hardtanh[bool(inplace)](input, min_val, max_val)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x above 0, negative_slope * x below."""
    return _leaky_relu[bool(inplace)](input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """x above 0, alpha * (exp(x) - 1) below."""
    return _elu[bool(inplace)](input, alpha)


def selu(input, inplace=False):
    """elu with the self-normalising constants. Source: Klambauer et al. 2017."""
    return _selu[bool(inplace)](input)


def celu(input, alpha=1.0, inplace=False):
    """x above 0, alpha * (exp(x / alpha) - 1) below."""
    return _celu[bool(inplace)](input, alpha)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _silu[bool(inplace)](input)


def mish(input, inplace=False):
    """x * tanh(softplus(x))."""
    return _mish[bool(inplace)](input)


def hardsigmoid(input, inplace=False):
    """clamp(x / 6 + 1/2, 0, 1)."""
    return _hardsigmoid[bool(inplace)](input)


def hardswish(input, inplace=False):
    """x * hardsigmoid(x)."""
    return _hardswish[bool(inplace)](input)


def threshold(input, threshold, value, inplace=False):
    """x above the threshold, value elsewhere."""
    return _threshold[bool(inplace)](input, threshold, value)


def relu_(input):
    """`relu` in place."""
    return relu(input, True)


def elu_(input, alpha=1.0):
    """`elu` in place."""
    return elu(input, alpha, True)


def selu_(input):
    """`selu` in place."""
    return selu(input, True)


def celu_(input, alpha=1.0):
    """`celu` in place."""
    return celu(input, alpha, True)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """`hardtanh` in place."""
    return hardtanh(input, min_val, max_val, True)


def leaky_relu_(input, negative_slope=0.01):
    """`leaky_relu` in place."""
    return leaky_relu(input, negative_slope, True)


def threshold_(input, threshold, value):
    """`threshold` in place."""
    return _threshold[True](input, threshold, value)


def rrelu_(input, lower=_LOWER, upper=_UPPER, training=False):
    """`rrelu` in place."""
    return rrelu(input, lower, upper, training, True)


def rrelu(input, lower=_LOWER, upper=_UPPER, training=False, inplace=False):
    """x above 0; below, x times a slope drawn from [lower, upper) in training and their mean otherwise."""
    return _rrelu[bool(inplace)](input, lower, upper, training)


def _implicit_dim(name, dim, input, stacklevel):
    # Kept for old callers of softmax(x): PyTorch chooses axis 0 for 0, 1 and 3 axes, else 1.
    if dim is None:
        warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.", stacklevel=stacklevel)
    return dim if dim is not None else (0 if input.dim() in (0, 1, 3) else 1)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) along dim, scaled to sum to 1. Shape: as input."""
    return _softmax(input, _implicit_dim("softmax", dim, input, _stacklevel), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x)) along dim, without overflow. Shape: as input."""
    return _log_softmax(input, _implicit_dim("log_softmax", dim, input, _stacklevel), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x) along dim. Shape: as input."""
    return _softmax(-input, _implicit_dim("softmin", dim, input, _stacklevel), dtype=dtype)
