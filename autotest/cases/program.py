"""A program: calls whose tensors are the results of earlier calls, views and in-place writes among them."""

from dataclasses import dataclass, field

from .target import Target


@dataclass(frozen=True)
class Ref:
    """A tensor that an earlier step returned: output `output` (flattened) of step `step`, and what it looks like."""

    step: int
    output: int
    dtype: str
    size: tuple
    requires_grad: bool = False


@dataclass
class Step:
    """One call; its arguments hold tensor descriptors, Refs and constants. `inplace`: it writes its first argument."""

    target: Target
    args: tuple
    kwargs: dict
    inplace: bool = False


@dataclass
class Program:
    """Steps in order. Descriptors of all steps share `storages` and ids, as in a case."""

    storages: list = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
