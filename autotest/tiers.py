"""Tiers: how much a run asks, by the time it may take on two cores."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tier:
    """The dtypes whose calls are generated, and how many calls per overload and dtype."""

    dtypes: tuple
    cases: int
    promise: str


TIERS = {
    "pr": Tier(("float32", "int64", "bfloat16", "float16", "complex64"), 25, "every change, at most 6 minutes"),
    "full": Tier(("float32", "float64", "bfloat16", "float16", "complex64", "complex128", "int64", "int32", "uint8", "bool"), 150,
                 "every day, at most 40 minutes"),
}
#: Not a set of calls: it searches for a given time and only files the cases it finds.
NIGHTLY = "nightly"
