"""Runs a case in one framework. The oracle and the subject run this same code."""

from ..cases import ship
from ..cases.case import Case, Decoder, TensorSpec, Unmappable, leaves
from ..cases.values import Outcome, Raised, flatten, to_value


class Execution:
    """One case in framework `W`: build the inputs, call `function`, then differentiate.

    Nothing here raises for a fault of the framework: faults are part of the outcome.
    """

    def __init__(self, W, function, case: Case):
        self._W = W
        self._function = function
        self._case = case
        self._decoder = Decoder(W, case.storages)
        self._outputs: list = []

    def forward(self) -> Outcome:
        """Calls the function; the outcome holds its result or the exception."""
        case = self._case
        try:
            args, kwargs = self._decoder.decode(case.args), self._decoder.decode(case.kwargs)
        except Exception as error:
            return Outcome(raised=_prefixed("cannot build the inputs", error))
        try:
            result = self._function(*args, **kwargs)
        except Exception as error:
            return Outcome(raised=Raised.of(error))
        return self._collect(result)

    def _collect(self, result) -> Outcome:
        W = self._W
        try:
            structure, found = flatten(result, W)
            self._outputs = found
            outcome = Outcome(structure, [to_value(leaf, W) for leaf in found])
            if self._case.process is not None:
                _, self._outputs = flatten(self._process(result), W)
                outcome.processed = [to_value(leaf, W) for leaf in self._outputs]
            return outcome
        except Unmappable as error:
            return Outcome(unmappable=str(error))
        except Exception as error:
            return Outcome(raised=_prefixed("cannot read the result", error))

    def _process(self, result):
        return ship.build(self._case.process, self._W)(result)

    def differentiable(self) -> list:
        """Positions of outputs of the last forward that a gradient can flow into."""
        W = self._W
        return [i for i, out in enumerate(self._outputs)
                if isinstance(out, W.Tensor) and out.requires_grad]

    def output(self, position: int):
        """An output of the last forward, after processing."""
        return self._outputs[position]

    def backward(self) -> Outcome:
        """Gradients of all inputs that require them, None for those the outputs do not use."""
        try:
            inputs = [self._decoder.decode(spec) for spec in gradient_inputs(self._case)]
            outputs, cotangents = [], []
            for position, spec in self._case.cotangents:
                outputs.append(self._outputs[position])
                cotangents.append(self._decoder.decode(spec))
                if not outputs[-1].requires_grad:
                    raise RuntimeError(f"output {position} does not require grad")
            grads = self._W.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
            return Outcome("gradients", [to_value(grad, self._W) for grad in grads])
        except Unmappable as error:
            return Outcome(unmappable=str(error))
        except Exception as error:
            return Outcome(raised=Raised.of(error))


def gradient_inputs(case: Case) -> list:
    """Descriptors of the distinct inputs that require a gradient, in order of mention."""
    found = {}
    for leaf in leaves((case.args, case.kwargs)):
        if isinstance(leaf, TensorSpec) and leaf.requires_grad:
            found.setdefault(leaf.id, leaf)
    return list(found.values())


def _prefixed(what: str, error: Exception) -> Raised:
    raised = Raised.of(error)
    return Raised(raised.names, f"{what}: {raised.message}")
