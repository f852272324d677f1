"""Checks of values, which a traced program makes in its runs."""

import weir
from weir import _C


def require(condition, error, message):
    """Raises `error(message)`, RuntimeError, ValueError or IndexError, unless the bool tensor `condition` holds everywhere."""
    if _C._is_tracing():
        text = weir.tensor(list(message.encode()), dtype=weir.uint8)
        _C.ops["hidden"]["require"](condition.detach(), text, error.__name__)
    elif not bool(condition.all()):
        raise error(message)
