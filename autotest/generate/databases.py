"""PyTorch's own databases of operations, modules and optimizers as a source of cases: every sample that they have.

A sample that cannot be posed, or that PyTorch itself refuses, is an omission, which is counted and never passes.
"""

import random
import zlib

import numpy as np
import torch

from ..cases import ship, target
from ..cases.case import Case, Encoder, Unmappable
from ..cases.protocol import Item, Omission, OpKey
from ..cases.values import Raised
from ..workers import opinfo
from . import gauge, objects
from .choices import Choices
from .expectation import expectation
from .kept import kept


@kept
def keys(dtype: str) -> list[OpKey]:
    """Every entry that supports the dtype, operations first. Left out: jiterator, which needs a CUDA compiler."""
    kind = getattr(torch, dtype)
    found = [OpKey(i, op.name, op.variant_test_name) for i, op in enumerate(_operations())
             if kind in op.dtypes and not op.name.startswith("jiterator")]
    return found + [OpKey(i, name, "", database) for database in ("module", "optimizer")
                    for i, name in enumerate(objects.database_names(database, dtype))]


def samples(key: OpKey, dtype: str, limit: int = 0) -> tuple[list[Item], list[Omission]]:
    """The samples of an entry with what PyTorch answers, at most `limit` of them (0: all), spread evenly, and its error inputs."""
    if key.database != "op":
        return _of_objects(key, dtype, limit)
    op, kind = _operations()[key.position], getattr(torch, dtype)
    made = _Made(op, key, op.supports_autograd and kind in op.supported_backward_dtypes("cpu"))
    made.add_samples(kind, limit)
    if op.error_inputs_func is not None:
        made.add_errors()
    return made.items, made.omissions


def _operations() -> list:
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


class _Made:
    """What one operation's entry comes to."""

    def __init__(self, op, key: OpKey, differentiable: bool):
        self._op, self._key, self._differentiable = op, key, differentiable
        self._target = target.of_op(op, torch)
        self._modules: dict = {}
        self.items: list[Item] = []
        self.omissions: list[Omission] = []

    def add_samples(self, dtype: torch.dtype, limit: int) -> None:
        _reseed(f"{self._key}.{dtype}")
        try:
            with objects.recorded() as self._modules:
                found = list(opinfo.samples(self._op, dtype, self._differentiable))
        except Exception as error:
            return self._omit(0, "ORACLE-ERROR", f"sample_inputs raised {Raised.of(error)}")
        for index in _spread(len(found), limit):
            try:
                self._add(index, self._item(index, found[index], int(self._differentiable)))
            except Unmappable as error:
                self._omit(index, "UNMAPPABLE", str(error))

    def _add(self, index: int, item: Item) -> None:
        expected = item.expected
        if expected.unmappable:
            return self._omit(index, "UNMAPPABLE", expected.unmappable)
        if expected.raised:
            return self._omit(index, "ORACLE-ERROR", f"torch raised {expected.raised}")
        if isinstance(expected.gradients, Raised):
            self.omissions.append(Omission("bwd", index, "ORACLE-ERROR", f"torch raised {expected.gradients}"))
        self.items.append(item)

    def add_errors(self) -> None:
        _reseed(f"{self._key}.errors")
        first = 1 + max((item.index for item in self.items), default=-1)
        try:
            found = list(self._op.error_inputs("cpu"))
        except Exception as error:
            return self.omissions.append(Omission("err", first, "ORACLE-ERROR", f"error_inputs raised {Raised.of(error)}"))
        for index, error_input in enumerate(found, first):
            try:
                item = self._item(index, error_input.sample_input, 0)
            except Unmappable as error:
                self.omissions.append(Omission("err", index, "UNMAPPABLE", str(error)))
                continue
            if item.expected.raised:
                self.items.append(item)
            else:
                self.omissions.append(Omission("err", index, "ORACLE-ERROR", "torch accepts this input"))

    def _item(self, index: int, sample, order: int) -> Item:
        encoder = Encoder(torch, self._modules)
        args = encoder.encode((sample.input, *sample.args))
        case = Case(args, encoder.encode(sample.kwargs), encoder.storages, _process(sample), differentiate=order)
        return expectation(self._target, case, index, decomposes=gauge.decomposes(self._op.name))

    def _omit(self, index: int, state: str, reason: str) -> None:
        """Records a sample that is lost for the forward and the backward cell."""
        self.omissions.append(Omission("fwd", index, state, reason))
        if self._differentiable:
            self.omissions.append(Omission("bwd", index, state, reason))


def _process(sample):
    """What maps the sample's result to its determined part, as data; None for the identity, which is SampleInput's own default,
    and for what cannot be shipped, which is left out on both sides."""
    process = sample.output_process_fn_grad
    if process is None or process.__qualname__.startswith("SampleInput.__init__"):
        return None
    spec = ship.pack(process)
    try:
        ship.build(spec, torch)
    except ship.Unresolved:
        return None
    return spec


def _of_objects(key: OpKey, dtype: str, limit: int) -> tuple[list[Item], list[Omission]]:
    items, omissions = [], []
    where = target.Target(f"torch.{key.name}", [key.name])
    cases = objects.database_cases(key.database, key.name, dtype, Choices(zlib.crc32(str(key).encode())))
    for index in _spread(len(cases), limit):
        case, reason = cases[index]
        item = expectation(where, case, index) if case is not None else None
        raised = item.expected.raised if item else None
        if item is None or raised:
            state = "ORACLE-ERROR" if raised else "UNMAPPABLE"
            omissions += [Omission(phase, index, state, f"torch raised {raised}" if raised else reason) for phase in ("fwd", "bwd")]
        else:
            items.append(item)
    return items, omissions


def _reseed(text: str) -> None:
    """Seeds every generator that the samples use from `text`."""
    number = zlib.crc32(text.encode())
    torch.manual_seed(number)
    np.random.seed(number)
    random.seed(number)


def _spread(count: int, limit: int) -> list[int]:
    """At most `limit` of `count` indices, evenly spread, the first included."""
    if limit <= 0 or count <= limit:
        return list(range(count))
    return [i * count // limit for i in range(limit)]
