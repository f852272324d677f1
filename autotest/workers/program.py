"""Runs a program in one framework, from start to end, and shows every step and what is left."""

from ..cases.case import Decoder, TensorSpec, Unmappable, leaves
from ..cases.observed import Progress, StepSeen
from ..cases.program import Program
from ..cases.values import Raised, flatten, to_value
from .trial import cotangent, home


def _version(tensor) -> int | None:
    return getattr(tensor, "_version", None)


class Run:
    """One program in framework `W`."""

    def __init__(self, W, program: Program, wrap=lambda function: function):
        self._W = W
        self._program = program
        self._wrap = wrap
        self._decoder = Decoder(W, program.storages)
        self._alive: list = []  # every tensor so far, in order of appearance
        self._entered: list = []  # and the version of each when it came
        self._seen = Progress()

    def run(self) -> Progress:
        """Runs to the end or to the first step that raises; faults of the framework become part of the progress."""
        try:
            for step in self._program.steps:
                self._seen.steps.append(self.step(self._wrap(step.target.resolve(self._W)), step))
            self._finish()
        except Unmappable as error:
            self._seen.raised = Raised(("Unmappable",), str(error))
        except Exception as error:
            self._seen.raised = Raised.of(error)
        return self._seen

    def step(self, function, step) -> StepSeen:
        """Runs one more step. Raises what the framework raises."""
        tensors = self.advance(function, step)
        seen = StepSeen([to_value(t, self._W) for t in tensors], [tuple(int(s) for s in t.stride()) for t in tensors],
                    [self._alias(t) for t in tensors], [bool(t.requires_grad) for t in tensors])
        for tensor in tensors:
            self._enter(tensor)
        return seen

    def advance(self, function, step) -> list:
        """Runs one more step without looking at values; returns its tensors."""
        args, kwargs = self._decoder.decode(step.args), self._decoder.decode(step.kwargs)
        for leaf in leaves((step.args, step.kwargs)):
            if isinstance(leaf, TensorSpec):
                self._enter(self._decoder.tensors[leaf.id])
        _, found = flatten(function(*args, **kwargs), self._W)
        tensors = [t for t in found if isinstance(t, self._W.Tensor)]
        self._decoder.results.append(tensors)
        return tensors

    def take(self, tensors: dict) -> None:
        """Uses these tensors, by descriptor id, in place of new ones."""
        self._decoder.tensors.update(tensors)

    def go(self, step) -> None:
        """Runs one more step without looking at values."""
        for tensor in self.advance(self._wrap(step.target.resolve(self._W)), step):
            self._enter(tensor)

    def left(self, gradients: bool) -> tuple[list, list]:
        """Every tensor so far, and the inputs' gradients if asked for."""
        return self._alive, list(self._gradients()) if gradients else []

    def forget(self, steps: int) -> None:
        """Drops the results of all but the first `steps` steps."""
        del self._decoder.results[steps:]

    def tensors(self) -> list:
        """The output tensors of the last step."""
        return self._decoder.results[-1]

    def arguments(self, step) -> tuple:
        """The decoded arguments of a step that has not run yet."""
        return self._decoder.decode(step.args), self._decoder.decode(step.kwargs)

    def _enter(self, tensor) -> None:
        if not any(tensor is known for known in self._alive):
            self._alive.append(tensor)
            self._entered.append(_version(tensor))

    def _alias(self, tensor) -> int | None:
        if tensor.numel() == 0:
            return None
        place = home(tensor)
        return next((i for i, known in enumerate(self._alive) if known is tensor or (known.numel() and home(known) == place)),
                    None)

    def _finish(self) -> None:
        W, seen = self._W, self._seen
        seen.final = [to_value(t, W) for t in self._alive]
        # Since each tensor came: how often a call wrote to its own result before is nobody's business.
        seen.versions = [None if before is None else _version(t) - before for t, before in zip(self._alive, self._entered)]
        try:
            grads = self._gradients()
            seen.gradients = [to_value(g, W) for g in grads] if grads else None
        except Exception as error:
            seen.gradients = Raised.of(error)

    def _gradients(self) -> tuple:
        inputs = [t for t in self._decoder.tensors.values() if t.requires_grad]
        outputs = [t for t in self._alive if t.requires_grad and not t.is_leaf]
        if not inputs or not outputs:
            return ()
        return self._W.autograd.grad(outputs, inputs, [cotangent(t, self._W) for t in outputs], allow_unused=True)
