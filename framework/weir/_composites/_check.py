"""Checks of arguments that several functions share."""


def check_floating(name: str, value) -> None:
    """Raises NotImplementedError unless the tensor `value` holds floating numbers."""
    if not value.is_floating_point():
        raise NotImplementedError(f"{name}: not implemented for {value.dtype}")
