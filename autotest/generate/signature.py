"""The signature of an operation as data, for processes that hold no framework."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A parameter of an overload; `type` is aten's type text, `Tensor`, `int[]`, `float?`, ..."""

    name: str
    type: str
    keyword_only: bool
    has_default: bool
    size: int = 0  # of a fixed-size list such as int[2]


@dataclass(frozen=True)
class Overload:
    """One signature of a public operation.

    `path` is where users find it; `inplace` the path of its in-place twin, "" if it has none; `out` the dtype-carrying
    outputs that an `out=` variant takes, 0 if it has none.
    """

    name: str
    path: str
    parameters: tuple
    inplace: str = ""
    out: int = 0
    random: bool = False
    backend: bool = False
    pointwise: bool = False  # each element of the result comes from the elements at its own place

    def __str__(self) -> str:
        return self.name
