"""Start values of parameters, drawn in PyTorch's order so that equal seeds give equal weights.

Source: torch.nn.init; Glorot & Bengio 2010 (xavier), He et al. 2015 (kaiming), Saxe et al. 2013 (orthogonal).
"""

import functools
import math
import warnings

import weir


def calculate_gain(nonlinearity: str, param=None) -> float:
    """The gain that keeps variance through a nonlinearity. Raises ValueError for an unknown one."""
    if nonlinearity in ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                        "conv_transpose3d", "sigmoid"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


@weir.no_grad()
def uniform_(tensor, a: float = 0.0, b: float = 1.0, generator=None):
    """Fills with U(a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@weir.no_grad()
def normal_(tensor, mean: float = 0.0, std: float = 1.0, generator=None):
    """Fills with N(mean, std^2)."""
    return tensor.normal_(mean, std, generator=generator)


_FAR = 30          # standard deviations from the mean: from here on the low precisions lose what tells densities apart
_FEW = 1000        # uniform draws for one that is kept: where about so many were needed, PyTorch's do not end in reasonable time
_MOST_TIMES = 10000  # to draw anew: what is left then is between two numbers of a low precision


@weir.no_grad()
def trunc_normal_(tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator=None):
    """Fills with N(mean, std^2) restricted to [a, b]: draws are repeated where they fall outside, in PyTorch's order."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
                      "incorrect.", stacklevel=2)

    if tensor.is_meta:
        return tensor

    def cdf(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if cdf((b - mean) / std) - cdf((a - mean) / std) > 0.3:
        return _redraw_normal(tensor, mean, std, a, b, generator)
    far = max(a - mean, mean - b) / abs(std)
    if far > _FAR or far * ((b - a) / abs(std)) > _FEW:
        return _draw_tail(tensor, mean, std, a, b, generator)
    return _redraw_uniform(tensor, mean, std, a, b, generator)


def _redraw_normal(tensor, mean, std, a, b, generator):
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()  # rounded to the dtype, as the draws are
    result = tensor.normal_(mean, std, generator=generator)
    while bool((outside := (result < low) | (result > high)).any()):
        result = weir.where(outside, weir.empty_like(result).normal_(mean, std, generator=generator), result)
    return tensor if result is tensor else tensor.copy_(result)


def _redraw_uniform(tensor, mean, std, a, b, generator):
    """Uniform draws, each taken with its density over that of the peak: few are refused where [a, b] is narrow."""
    mode = max(a, min(mean, b))
    log_peak = -0.5 * ((mode - mean) / std) ** 2
    draws, chance = tensor.uniform_(a, b, generator=generator).clone(), weir.empty_like(tensor)
    result, pending = tensor, None
    for _ in range(_MOST_TIMES):
        draws.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak)
        refused = chance.uniform_(generator=generator).log_().gt(draws)
        pending = refused if pending is None else weir.where(pending, refused, pending)
        if not bool(pending.any()):
            return tensor if result is tensor else tensor.copy_(result)
        result = weir.where(pending, draws.uniform_(a, b, generator=generator), result)
    return tensor.copy_(result.masked_fill(pending, mode))


def _draw_tail(tensor, mean, std, a, b, generator):
    """Exponential draws from the end nearer to the mean, which the tail is below: most are kept. Source: Robert 1995."""
    near, away = (a, abs(std)) if mean < a else (b, -abs(std))
    rate, width = (near - mean) / away, (b - a) / abs(std)
    top = -math.expm1(-rate * width) if width else 0.0
    result = weir.empty_like(tensor, dtype=weir.float64)
    pending = weir.ones_like(tensor, dtype=weir.bool)
    while bool(pending.any()):
        draws = weir.empty_like(result).uniform_(0, top, generator=generator).neg_().log1p_().div_(-rate)
        refused = weir.empty_like(result).uniform_(generator=generator).log_() > draws.square() * -0.5
        result, pending = weir.where(pending, draws, result), pending & refused
    return tensor.copy_((near + away * result).clamp_(a, b))


@weir.no_grad()
def constant_(tensor, val: float):
    """Fills with `val`."""
    return tensor.fill_(val)


def ones_(tensor):
    """Fills with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Fills with 0."""
    return constant_(tensor, 0.0)


@weir.no_grad()
def eye_(tensor):
    """Fills a matrix with the identity."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(weir.eye(*tensor.shape, dtype=tensor.dtype))


@weir.no_grad()
def dirac_(tensor, groups: int = 1):
    """Fills a convolution's weight so that it passes as many channels as it can unchanged."""
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.shape[0] // groups
    tensor.zero_()
    centre = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for d in range(min(per_group, tensor.shape[1])):
            tensor[(group * per_group + d, d, *centre)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain: float = 1.0, generator=None):
    """Fills with U(-a, a), a = gain sqrt(6 / (fan_in + fan_out))."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain: float = 1.0, generator=None):
    """Fills with N(0, std^2), std = gain sqrt(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor, gain):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def kaiming_uniform_(tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator=None):
    """Fills with U(-bound, bound), bound = gain sqrt(3 / fan)."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator=None):
    """Fills with N(0, std^2), std = gain / sqrt(fan)."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _is_empty(tensor):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def _kaiming_std(tensor, a, mode, nonlinearity):
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def uniform_bias_(bias, weight):
    """Fills a bias with U(-b, b), b = 1 / sqrt(fan_in of weight): what Linear and Conv start with."""
    fan_in, _ = _calculate_fan_in_and_fan_out(weight)
    bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
    return uniform_(bias, -bound, bound)


@weir.no_grad()
def orthogonal_(tensor, gain: float = 1, generator=None):
    """Fills with a (semi-)orthogonal matrix over the flattened trailing axes."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    flat = weir.empty(rows, columns, dtype=tensor.dtype).normal_(0, 1, generator=generator)
    q, r = weir.linalg.qr(flat.t() if rows < columns else flat)
    q = q * r.diagonal().sign()  # makes the distribution uniform
    return tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape)).mul_(gain)


@weir.no_grad()
def sparse_(tensor, sparsity: float, std: float = 0.01, generator=None):
    """Fills a matrix with N(0, std^2), a share `sparsity` of every column set to zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = int(math.ceil(sparsity * rows))
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        tensor[weir.randperm(rows)[:zeros], column] = 0
    return tensor


# What PyTorch's functions call; libraries do, too.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_, _no_grad_fill_, _no_grad_zero_ = uniform_, normal_, trunc_normal_, constant_, zeros_


def _under_old_name(fill):
    old = fill.__name__[:-1]

    @functools.wraps(fill)
    def deprecated(*args, **kwargs):
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning, stacklevel=2)
        return fill(*args, **kwargs)

    deprecated.__name__, deprecated.__doc__ = old, f"Deprecated: `{old}_`."
    return deprecated


uniform, normal, constant, eye, dirac, xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal, orthogonal, sparse = map(
    _under_old_name, (uniform_, normal_, constant_, eye_, dirac_, xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_,
                      orthogonal_, sparse_))
