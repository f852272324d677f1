"""Samples of PyTorch's op database as calls of overloads: they reach what types and names of parameters cannot tell.

They are drawn once per operation and dtype; which overload a sample calls is PyTorch's own decision.
"""

import random
from functools import lru_cache
from itertools import islice

import numpy as np
import torch

from ..cases.case import Encoder, Unmappable, map_tree
from ..workers import opinfo
from ..workers.seeding import seed
from .kept import kept
from .signature import Overload
from .vary import Sample, simplest_first

_DRAWN = 32  # samples drawn per entry of the database
_KEPT = 16  # of those that call one overload


def samples_of(overload: Overload, dtype: str) -> list[Sample]:
    """The samples that call `overload`: trees of args and kwargs."""
    return _by_overload(overload.operation, dtype).get(overload.name, [])


@lru_cache(maxsize=None)
@kept
def _by_overload(operation: str, dtype: str) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for op in _entries().get(operation, []):
        taken = _taken(op, dtype)
        if taken is None:
            continue
        seed(torch)
        np.random.seed(0)
        random.seed(0)
        for drawn in islice(_drawn(op, taken), _DRAWN):
            sample = _encoded(drawn)
            if sample is not None and sample.small:
                found.setdefault(_called(operation, drawn), []).append(sample)
    return {name: simplest_first(samples)[:_KEPT] for name, samples in found.items()}


@lru_cache(maxsize=1)
def _entries() -> dict:
    """The database's entries by the aten name of the operation they may call."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict = {}
    for op in op_db:
        for name in {op.aten_name, op.name.replace(".", "_"), op.name.split(".")[-1]}:
            found.setdefault(name, []).append(op)
    return found


def _taken(op, dtype: str) -> torch.dtype | None:
    """The dtype of the samples: the complex one of the same width where the entry knows only complex numbers."""
    wanted = getattr(torch, dtype)
    options = (wanted, wanted.to_complex()) if wanted.is_floating_point and dtype != "bfloat16" else (wanted,)
    return next((option for option in options if option in op.dtypes), None)


def _drawn(op, dtype: torch.dtype):
    """The entry's samples, up to the first that the database itself fails to make."""
    asked = op.supports_autograd and dtype.is_floating_point
    try:
        yield from opinfo.samples(op, dtype, asked)
    except Exception:
        return


def _encoded(drawn) -> Sample | None:
    encoder = Encoder(torch)
    try:
        return Sample(encoder.encode(((drawn.input, *drawn.args), drawn.kwargs)), encoder.storages)
    except Unmappable:
        return None


_ANY = torch.empty(0)


def _stand_in(value):
    """An empty tensor for any but a 0-d one, which may stand for a number: overloads differ by types alone, and a refusal prints
    what it was given."""
    return _ANY if isinstance(value, torch.Tensor) and value.dim() else value


def _called(operation: str, drawn) -> str:
    """The name of the overload that a call dispatches to.

    Where a Python function translates its arguments first (`nn.functional.max_unpool2d`), the operation's own name.
    """
    try:
        args, kwargs = map_tree(_stand_in, ((drawn.input, *drawn.args), drawn.kwargs))
        name = torch._C._jit_resolve_packet(f"aten::{operation}", *args, **kwargs)
    except Exception:
        name = "default"
    return operation if name == "default" else f"{operation}.{name}"
