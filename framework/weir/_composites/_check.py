"""Checks of arguments that several functions share."""
from _weir import dtype as _dtype


def inexact(value) -> bool:
    """Does the tensor or dtype hold numbers with fractions, real or complex?"""
    dtype = value if isinstance(value, _dtype) else value.dtype
    return dtype.is_floating_point or dtype.is_complex


def check_floating(name: str, value) -> None:
    """Raises NotImplementedError unless the tensor `value` holds floating numbers."""
    if not value.is_floating_point():
        raise NotImplementedError(f"{name}: not implemented for {value.dtype}")
