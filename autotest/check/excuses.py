"""Excuses: values accepted without being compared. A tolerance bounds what may differ; an excuse does not, so it is counted."""

from dataclasses import dataclass

import numpy as np

#: Every kind of excuse, and why such a value cannot be held against a subject.
KINDS = {
    "equal values": "an index names another of several equal values, or the gradient went to another of them",
    "undefined cast": "a number was cast to an integer type that cannot hold it, which C++ leaves undefined",
    "no digits": "an epsilon in the inputs changes every digit of the oracle's own answer",
    "overflow": "double precision has a number where the dtype has none; or, where elements mix, neither has: infinity and NaN come out as the terms are ordered",
    "poisoned": "how far NaN and infinity spread in a second derivative depends on how a formula is written",
    "complex infinity": "which part of a complex number is infinite and which NaN, where infinities met, depends on how products are written",
    "matrix": "what a decomposition makes of a singular or infinite matrix differs between two CPUs in the oracle itself",
    "agreed tolerance": "the subject's autotest.toml allows this operation to differ by so much, and says why",
    "oracle inexact": "of a special function, or its derivative, the subject has the digits that mpmath has, and the oracle others, in double precision too",
    "wrong twice": "the call is refused for another of its faults than the oracle names first: with one choice less, the oracle names that one too",
    "oracle slips": "nobody refuses the call: the oracle's own Python, or its machinery, stumbled over it, and what it would have answered is unknown",
    "no such gradient": "the oracle says that whole numbers require a gradient, which its engine refuses to carry",
    "oracle wavers": "the oracle answers the same call differently: from run to run, with other threads, or by unset memory",
}


@dataclass(frozen=True)
class Excuse:
    """One value that was not compared: the property it belongs to, why, and where it stands."""

    property: str
    kind: str
    where: str

    def __post_init__(self):
        assert self.kind in KINDS, f"no such kind of excuse: {self.kind}"


def settled(accepted: np.ndarray, excuses: dict) -> frozenset | None:
    """The kinds of excuse by which the elements that are not accepted may pass; None where one may not."""
    used, left = set(), ~np.asarray(accepted)
    for kind, mask in excuses.items():
        if (left & mask).any():
            used.add(kind)
            left &= ~mask
    return None if left.any() else frozenset(used)
