"""Grows programs bottom-up: every step is drawn, run in PyTorch at once, and kept if it is valid.

Each step also becomes a case of its own, whose inputs are the very tensors it met: strides, shared memory and values.
Compared alone, a fault is found where it is made and not where it ends.
"""

from dataclasses import replace

import torch

from ..cases import dtypes
from ..cases.case import Case, Encoder, Named, Unmappable, leaves
from ..cases.program import Program, Ref, Step
from ..cases.protocol import Item
from ..cases.target import Target
from ..workers.program import Run
from ..workers.trial import Trial
from . import arguments
from .choices import Choices
from .overlaps import order_tells
from .signature import Overload

#: Left out of programs: results that are drawn, unset or tied, and decompositions, whose signs are free.
_UNSTEADY = ("empty", "resize", "sort", "topk", "kthvalue", "mode", "median", "unique", "linalg_", "svd", "qr", "eig", "lu",
             "lstsq", "fft_", "stft", "special_", "_copy", "histogram", "backward", "set_", "view_as_complex", "complex", "to",
             "bessel", "chebyshev", "hash", "ormqr", "orgqr", "geqrf", "cholesky", "inverse", "gru", "lstm", "rnn", "nextafter")
_STEPS = (3, 4, 5, 2, 6, 8)
_TRIES = 3  # draws per step before the program gets shorter
_MOST_ELEMENTS = 2048


def pool(overloads: list[Overload]) -> list[Overload]:
    """The overloads that programs are made of, by name."""
    return [o for o in overloads if o.parameters and o.parameters[0].type in ("Tensor", "List[Tensor]")
            and not (o.random or o.backend or o.path == o.inplace or _unsteady(o.name))]


def _unsteady(name: str) -> bool:
    return any(name.startswith(word) or (word[0] == "_" or word in ("empty", "resize", "backward")) and word in name
               for word in _UNSTEADY)


def grow(overloads: list[Overload], dtype: str, choices: Choices, index: int) -> list[Item]:
    """The items of one program: its steps alone, then the whole."""
    plant = _Plant(dtype, choices, index)
    for _ in range(choices.pick(_STEPS)):
        for _ in range(_TRIES):
            if plant.extend(choices.pick(overloads)):
                break
    return plant.items()


class _Plant:
    """A program while it grows, with the live tensors it has made in PyTorch."""

    def __init__(self, dtype: str, choices: Choices, index: int):
        self._dtype, self._choices, self._index = dtype, choices, index
        self._program = Program()
        self._run = Run(torch, self._program)
        self._refs: list[Ref] = []
        self._alone: list[Item] = []

    def extend(self, overload: Overload) -> bool:
        """Tries one more step; False where PyTorch refuses it, or its order of elements tells what it leaves: nothing could follow from that."""
        call = arguments.make(overload, self._dtype, self._choices, 0.5, self._refs, self._program.storages)
        if any(isinstance(leaf, Named) and leaf.kind == "dtype" for leaf in leaves((call.args, call.kwargs))):
            return False  # casts of numbers that do not fit are undefined
        inplace = bool(overload.inplace) and isinstance(call.args[0] if call.args else None, Ref) and self._choices.chance(0.6)
        path = overload.inplace if inplace else overload.path
        step = Step(Target(f"torch.{path}", [path]), call.args, call.kwargs, inplace)
        function = step.target.resolve(torch)
        generator = torch.default_generator.get_state()
        try:
            alone = self._step_alone(step, function)
            seen = None if alone is not None and order_tells(alone, function) else self._run.step(function, step)
        except Exception:
            seen = None
        if seen is None or not torch.equal(generator, torch.default_generator.get_state()):  # nobody seeds a step's draws
            self._run.forget(len(self._program.steps))
            return False
        self._program.steps.append(step)
        self._enter(len(self._program.steps) - 1)
        if alone is not None:
            self._alone.append(alone)
        return bool(seen.values)

    def _step_alone(self, step: Step, function) -> Item | None:
        """The step as a case whose inputs are copies, memory and all, of the tensors it is about to meet."""
        args, kwargs = self._run.arguments(step)
        encoder = Encoder(torch)
        try:
            case = Case(encoder.encode(args), encoder.encode(kwargs), encoder.storages,
                        relation="inplace" if step.inplace else "call", differentiate=0 if step.inplace else 1)
        except Unmappable:
            return None
        number = 1000 * self._index + len(self._alone) + 1
        return Item(number, step.target, case, Trial(torch, function, case).run())

    def _enter(self, at: int) -> None:
        for i, tensor in enumerate(self._run.tensors()):
            name = dtypes.name_of(tensor.dtype)
            if tensor.layout == torch.strided and dtypes.is_known(name) and tensor.numel() <= _MOST_ELEMENTS:
                self._refs.append(Ref(at, i, name, tuple(tensor.shape), tensor.requires_grad))

    def items(self) -> list[Item]:
        program = replace(self._program)
        if not program.steps:
            return self._alone
        whole = Item(1000 * self._index, Target("program", ["program"]), program, Run(torch, program).run(),
                     choices=tuple(self._choices.made))
        alone = [replace(item, choices=tuple(self._choices.made)) for item in self._alone]
        return [*alone, whole] if whole.expected.raised is None else alone
