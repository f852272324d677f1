"""make_tensor: random tensors within bounds."""
import math

import weir

_BOUNDS = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
                memory_format=None):
    """A random tensor in [low, high): floating by default in [-9, 9), integers [-9, 10), uint8 [0, 10), bool {0, 1}.

    exclude_zero replaces zeros by the smallest positive number. ValueError when low > high, or equal where none fits.
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and {memory_format=}")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    if dtype.is_complex:
        raise NotImplementedError(f"make_tensor: {dtype} is not written yet")
    default = (0, 2) if dtype is weir.bool else (0, 10) if dtype is weir.uint8 else (-9, 10) if not dtype.is_floating_point else (-9, 9)
    low, high = default[0] if low is None else low, default[1] if high is None else high
    for name, x in (("low", low), ("high", high)):
        if math.isnan(x):
            raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low > high or (low == high and not dtype.is_floating_point):
        raise ValueError(f"`low` must be {'less than or equal to' if dtype.is_floating_point else 'less than'} `high`, but got {low} and {high}")
    count = math.prod(shape)
    if dtype.is_floating_point:
        bound = _BOUNDS[dtype.name]
        low, high = max(low, -bound), min(high, bound)
        result = weir.empty(count, dtype=dtype).uniform_(low, high) if low < high else weir.full((count,), low, dtype=dtype)
    else:
        result = weir.randint(math.ceil(low), math.ceil(high), (count,), dtype=dtype)
    result = result.reshape(shape)
    if noncontiguous and count > 1:
        result = weir.repeat_interleave(result, 2, dim=-1)[..., ::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        tiny = weir.finfo(dtype).tiny if dtype.is_floating_point else 1
        result = weir.where(result == 0, weir.full_like(result, tiny), result)
    result = result.to(device)
    return result.requires_grad_(requires_grad) if requires_grad else result
