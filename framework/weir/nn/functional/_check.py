"""Checks and small conversions that several families share."""

import warnings

from weir import Tensor


def check_tensor(name: str, value, argument: str = "input") -> None:
    """Raises TypeError unless `value` is a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}")


def check_batched(name: str, input, spatial: int) -> None:
    """Raises RuntimeError unless `input` is (C, *spatial) or (N, C, *spatial)."""
    check_tensor(name, input)
    if input.dim() not in (spatial + 1, spatial + 2):
        raise RuntimeError(f"{name}: expected {spatial + 1}D or {spatial + 2}D input, but got {list(input.shape)}")


def ntuple(value, n: int, name: str) -> tuple:
    """`value` as n ints; a single one is repeated. Raises RuntimeError for another length."""
    if not isinstance(value, (tuple, list)):
        return (value,) * n
    if len(value) == 1:
        return tuple(value) * n
    if len(value) != n:
        raise RuntimeError(f"{name} must be one int or {n} ints, got {len(value)}")
    return tuple(value)


def reduce(loss, reduction: str):
    """'mean', 'sum' or 'none' of a loss. Raises ValueError for another word."""
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def number(reduction: str) -> int:
    """The number by which the ops know 'none', 'mean' or 'sum'. Raises ValueError for another word."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def legacy_reduction(size_average, reduce_flag, reduction: str) -> str:
    """The `reduction` that the two deprecated flags stand for."""
    if size_average is None and reduce_flag is None:
        if reduction not in ("none", "mean", "sum"):
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return reduction
    kept = "none" if reduce_flag is not None and not reduce_flag else "sum" if size_average is not None and not size_average else "mean"
    warnings.warn(f"size_average and reduce args will be deprecated, please use reduction='{kept}' instead.", stacklevel=3)
    if reduce_flag is not None and not reduce_flag:
        return "none"
    return "mean" if size_average is None or size_average else "sum"
