"""Activation modules: each keeps its arguments and calls its functional form."""

import warnings

import weir
import weir.nn.functional as F
from weir.nn.parameter import Parameter

from ._fields import Fields

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin",
    "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]


class Threshold(Fields):
    """x above `threshold`, `value` elsewhere."""

    _shown = ("threshold", "value", "inplace")

    def __init__(self, threshold: float, value: float, inplace: bool = False):
        super().__init__()
        self._keep(locals())

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)


class _Inplace(Fields):
    """An activation whose only argument is `inplace`."""

    _shown = ("inplace",)
    _function = None

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return getattr(F, self._function)(input, self.inplace)


class ReLU(_Inplace):
    """max(x, 0)."""

    _function = "relu"


class SELU(_Inplace):
    """Self-normalising elu."""

    _function = "selu"


class SiLU(_Inplace):
    """x * sigmoid(x)."""

    _function = "silu"


class Mish(_Inplace):
    """x * tanh(softplus(x))."""

    _function = "mish"


class Hardsigmoid(_Inplace):
    """clamp(x / 6 + 1/2, 0, 1)."""

    _shown = ()
    _function = "hardsigmoid"


class Hardswish(_Inplace):
    """x * hardsigmoid(x)."""

    _shown = ()
    _function = "hardswish"


class Hardtanh(Fields):
    """x limited to [min_val, max_val]."""

    _shown = ("min_val", "max_val", "inplace")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value=None,
                 max_value=None):
        super().__init__()
        for old, new, given in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if given is not None:
                warnings.warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError("max_val must be larger than min_val")

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """min(max(x, 0), 6)."""

    _shown = ("inplace",)

    def __init__(self, inplace: bool = False):
        super().__init__(0.0, 6.0, inplace)
        self.min_val, self.max_val, self.inplace = 0.0, 6.0, inplace


class RReLU(Fields):
    """Leaky ReLU with a random slope in training."""

    _shown = ("lower", "upper", "inplace")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False):
        super().__init__()
        self._keep(locals())

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class _Exponential(Fields):
    """x above 0, something that tends to -alpha below."""

    _shown = ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False):
        super().__init__()
        self._keep(locals())


class ELU(_Exponential):
    """x above 0, alpha * (exp(x) - 1) below."""

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Exponential):
    """x above 0, alpha * (exp(x / alpha) - 1) below."""

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(Fields):
    """x above 0, negative_slope * x below."""

    _shown = ("negative_slope", "inplace")

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False):
        super().__init__()
        self._keep(locals())

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class GELU(Fields):
    """x times the normal distribution function of x."""

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class Softplus(Fields):
    """log(1 + exp(beta x)) / beta."""

    _shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0):
        super().__init__()
        self._keep(locals())

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)


class _Shrink(Fields):
    """The width around 0 on either side, lambd."""

    def __init__(self, lambd: float = 0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        return str(self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd."""

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0."""

    def forward(self, input):
        return F.hardshrink(input, self.lambd)


class PReLU(Fields):
    """x above 0, weight * x below, weight being learned: one, or one per channel."""

    _shown = ("num_parameters",)

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(weir.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self):
        """Fills weight with `init`."""
        weir.nn.init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)


class _Along(Fields):
    """An activation along one axis."""

    _shown = ("dim",)
    _function = None

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return getattr(F, self._function)(input, self.dim)


class Softmax(_Along):
    """exp(x) along dim, scaled to sum to 1."""

    _function = "softmax"


class LogSoftmax(_Along):
    """log(softmax(x)) along dim."""

    _function = "log_softmax"


class Softmin(_Along):
    """softmax(-x) along dim."""

    _function = "softmin"


class GLU(_Along):
    """a * sigmoid(b) of the two halves along dim."""

    _function = "glu"

    def __init__(self, dim: int = -1):
        super().__init__(dim)


class Softmax2d(Fields):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


def _plain(name, holder, function):
    """A module class without arguments."""
    def forward(self, input):
        return getattr(holder, function)(input)
    return type(name, (Fields,), {"forward": forward, "__doc__": getattr(holder, function).__doc__, "__module__": __name__})


Sigmoid = _plain("Sigmoid", weir, "sigmoid")
Tanh = _plain("Tanh", weir, "tanh")
LogSigmoid = _plain("LogSigmoid", F, "logsigmoid")
Softsign = _plain("Softsign", F, "softsign")
Tanhshrink = _plain("Tanhshrink", F, "tanhshrink")


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
