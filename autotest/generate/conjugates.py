"""Conjugate views, which PyTorch copies for operations that know nothing of them."""

from dataclasses import replace

import torch

from ..cases.case import Case, TensorSpec, leaves, map_tree
from ..cases.observed import Observation
from ..cases.protocol import Item
from ..check.properties import ANYTHING, Fault


def copied(kind, item: Item, got: Observation | None) -> list[Fault]:
    """Which strides, warnings and refusals are others where what the call conjugates lies in memory conjugated, where the subject's are those. What PyTorch copies
    to run an in-place call, as `squeeze_(0)`, it copies back into a tensor that it resizes for that, of which it warns, or that it refuses where elements repeat."""
    case = item.case
    if not isinstance(case, Case) or got is None or got.raised or not any(isinstance(leaf, TensorSpec) and leaf.conj for leaf in leaves((case.args, case.kwargs))):
        return []

    def plain(leaf):
        return replace(leaf, conj=False) if isinstance(leaf, TensorSpec) else leaf

    there = kind.observe(torch, replace(item, case=replace(case, args=map_tree(plain, case.args), kwargs=map_tree(plain, case.kwargs))))
    if there.raised or (there.strides, there.warned) != (got.strides, got.warned):
        return []
    if item.expected.raised:
        return [Fault(ANYTHING, "refused where it is copied to be conjugated")]
    return kind.faults(item, replace(item.expected, strides=there.strides, warned=there.warned))
