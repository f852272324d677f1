"""What a case showed of the oracle: which of its checks refused the call, or what kind of result it gave."""

import re

from ..cases.protocol import Item
from ..cases.values import Value

_NUMBERS = re.compile(r"\[[^]]*\]|\([^)]*\)|-?\d+(\.\d+)?(e[-+]?\d+)?|'[^']*'|\"[^\"]*\"")
_LONGEST = 120  # characters of a template that count


def template(message: str) -> str:
    """The first line of an error message without its numbers, shapes and names: the check it comes from."""
    return _NUMBERS.sub("#", message.split("\n")[0])[:_LONGEST]


def signature(item: Item) -> tuple:
    """Equal for cases that show the same: an error template, or the dtypes and ranks of results."""
    expected = item.expected
    if expected.raised:
        return ("error", expected.raised.names[0], template(expected.raised.message))
    return ("result", getattr(item.case, "relation", ""), *_kinds(expected))


def _kinds(expected) -> list:
    """dtype and rank of every result, whatever kind of observation it is."""
    if hasattr(expected, "entries"):
        values = [entry.value for entry in expected.entries]
    else:
        values = expected.final if hasattr(expected, "final") else expected.values
    return [(value.dtype, len(value.shape)) if isinstance(value, Value) else None for value in values]
