"""Values and layouts for generated tensors, as bytes and strides: no framework is needed to make a case.

Values come from pools that are drawn once per process from a fixed seed, so that a tensor costs one slice of bytes and
a decision about values is a single small number.
"""

from functools import lru_cache

import numpy as np

from ..cases import dtypes

_POOL = 1024  # places in a pool where a tensor may start
_ASTRAY = 64  # of them from which indices at times lie before the first or behind the last
LONGEST = 2 * 65600 + 8  # elements of the largest tensor

#: From simple to wild: what a shrinker moves towards stands first.
FLOATING = ("whole", "normal", "unit", "wide", "special")
_SPECIAL = [0.0, -0.0, 1.0, -1.0, float("inf"), -float("inf"), float("nan"), 1e-8, 3e4, -3e4, 0.5, 2.0,
            2.0**24 + 1, 2.0**53, 1e-40, -6e-8]  # where float32 and float64 cease to count by ones; denormal in float32 and float16
_LIMITS = 0.05  # of the numbers of a "special" integer tensor: the ends of its type


def data(dtype: str, kind: str, start: int, count: int) -> bytes:
    """`count` elements of `dtype`; `kind` is one of FLOATING, or "near" (all alike), or ("within", n) for indices in [0, n), or ("below", n), at times beside it."""
    if count > LONGEST:
        raise ValueError(f"a generated tensor has {count} elements, at most {LONGEST}")
    if kind[0] == "below" and start >= _POOL - _ASTRAY:
        kind = ("about", kind[1])
    pool = _pool(dtype, kind)
    return pool[start:start + count].tobytes()


@lru_cache(maxsize=None)
def _pool(dtype: str, kind) -> np.ndarray:
    rng = np.random.default_rng(7)
    size = _POOL + LONGEST
    if isinstance(kind, tuple):
        end = max(kind[1], 1)
        indices = rng.integers(0, end, size)
        if kind[0] == "about":
            indices = np.where(rng.random(size) < 0.2, rng.choice([-1, -2, -end, -end - 1, end, 2**40], size), indices)
        return indices.astype(dtypes.numpy_dtype(dtype))
    if dtype == "bool":
        truths = rng.integers(0, 2, size)
        return (truths * rng.integers(1, 256, size) if kind == "special" else truths).astype(np.uint8).view(bool)
    numbers = _numbers(rng, kind, size)
    if dtype.startswith("complex"):
        with np.errstate(invalid="ignore"):
            return (numbers + 1j * _numbers(rng, kind, size)).astype(dtypes.numpy_dtype(dtype))
    if dtype in dtypes.EPSILON:
        return narrowed(numbers, dtype)
    whole = np.where(np.isfinite(numbers), numbers * (3 if kind != "whole" else 1), 5)
    low = 0 if dtype.startswith("u") else -9
    made = np.clip(np.rint(whole), low, 9).astype(dtypes.numpy_dtype(dtype))
    if kind == "special":
        ends = np.iinfo(made.dtype)
        made = np.where(rng.random(size) < _LIMITS, rng.choice([ends.min, ends.max], size).astype(made.dtype), made)
    return made


def _numbers(rng, kind: str, size: int) -> np.ndarray:
    if kind == "whole":
        return rng.integers(-3, 4, size).astype(np.float64)
    if kind == "normal":
        return rng.standard_normal(size)
    if kind == "unit":
        return rng.uniform(0.01, 0.99, size)
    if kind == "near":
        return rng.uniform(0.45, 0.5, size)  # from 2,048 of them on just less than half a last bit of their sum in float16
    if kind == "wide":
        return rng.standard_normal(size) * 10.0 ** rng.integers(-4, 4, size)
    return np.where(rng.random(size) < 0.4, rng.choice(_SPECIAL, size), rng.standard_normal(size))


def narrowed(numbers: np.ndarray, dtype: str) -> np.ndarray:
    """`numbers` as `dtype`, in the NumPy dtype in which it travels."""
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return numbers.astype(dtypes.numpy_dtype(dtype))
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def layout(choices, size: tuple) -> tuple[tuple, int, int]:
    """Strides, offset and storage length (elements) for a tensor of `size`; mostly contiguous."""
    kind = choices.pick(_LAYOUTS if len(size) < 4 else _OF_PICTURES) if len(size) > 0 else "contiguous"
    order = _order(kind, len(size))
    step = 2 if kind == "stepped" else 1
    strides = [0] * len(size)
    cut = choices.below(len(size)) if kind == "cut" else None  # half of that axis of a larger tensor
    for axis in reversed(order):
        strides[axis] = step
        step *= max(size[axis], 1) * (2 if axis == cut else 1)
    if kind == "expanded":
        strides[choices.below(len(size))] = 0
    offset = choices.pick((1, 2, 3)) if kind in ("offset", "stepped") else 0
    reach = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, strides))
    return tuple(strides), offset, offset + reach


_LAYOUTS = ("contiguous",) * 7 + ("transposed", "offset", "stepped", "expanded", "reversed")
_OF_PICTURES = ("contiguous",) * 5 + ("reversed", "reversed", "cut", "transposed", "offset", "stepped", "expanded")  # one in four has its channels last


def _order(kind: str, rank: int) -> list:
    """Axes from the slowest to the fastest in memory."""
    order = list(range(rank))
    if kind == "transposed" and rank >= 2:
        order[-1], order[-2] = order[-2], order[-1]
    if kind in ("reversed", "cut"):
        order = [0, *range(2, rank), 1] if rank in (4, 5) else order[::-1]  # channels last where it has a meaning
    return order


def where(choices) -> int:
    """A place in the pools for the values of a tensor to begin at."""
    return choices.below(_POOL)
