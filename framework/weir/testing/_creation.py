"""make_tensor: random tensors within bounds."""
import math
import warnings

import weir


def _interval(low, high, dtype):
    """(low, high) with the defaults of `dtype`, clamped to what it holds, whole where it is. ValueError where nothing fits."""
    whole = not (dtype.is_floating_point or dtype.is_complex)
    if dtype is weir.bool:
        least, end, defaults = 0, 2, (0, 2)
    elif whole:
        info = weir.iinfo(dtype)
        least, end, defaults = info.min, info.max + (dtype is not weir.int64), (-9, 10)
    else:
        info = weir.finfo(dtype)
        least, end, defaults = info.min, info.max, (-9, 9)
    low, high = defaults[0] if low is None else low, defaults[1] if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and not whole:
        warnings.warn("make_tensor: low == high of a floating dtype is deprecated; torch.full makes such a tensor",
                      FutureWarning, stacklevel=3)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= end:
        raise ValueError(f"`low` and `high` ask for [{low}, {high}), but {dtype} only supports [{least}, {end})")
    low, high = min(max(low, least), end), min(max(high, least), end)
    return (math.ceil(low), math.ceil(high)) if whole else (low, high)


def _draw(numbers, low, high):
    """Fills `numbers` uniformly from [low, high), whose width its dtype may not hold."""
    if high - low >= weir.finfo(numbers.dtype).max:
        numbers.uniform_(low / 2, high / 2).mul_(2)
    else:
        numbers.uniform_(low, high)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
                memory_format=None):
    """A random tensor of `shape` in [low, high), drawn as PyTorch draws it.

    low, high: floating and complex dtypes (each part) by default [-9, 9), integers [-9, 10), uint8 [0, 10), bool {0, 1}.
    noncontiguous: every second element of a tensor twice as long. memory_format: excludes it.
    exclude_zero: zeros are replaced by the smallest positive normal number, or 1.
    ValueError when no number of the dtype lies in the interval, or an integer should require grad.

    https://docs.pytorch.org/docs/stable/testing.html#torch.testing.make_tensor
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    shape = tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and {memory_format=}")
    real = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not real:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    low, high = _interval(low, high, dtype)
    if not real:
        result = weir.randint(low, high, shape, device=device, dtype=dtype)
    elif dtype.itemsize == 1:  # eight bits are rounded from single precision
        result = weir.empty(shape, device=device)
        _draw(result, low, high)
        result = result.to(dtype)
    else:
        result = weir.empty(shape, device=device, dtype=dtype)
        _draw(weir.view_as_real(result) if dtype.is_complex else result, low, high)
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = weir.finfo(dtype).tiny if real else 1
    if real:
        result.requires_grad = requires_grad
    return result
