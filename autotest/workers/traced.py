"""Runs a case as a traced program, and holds what it gives against the same framework's eager answer, bit for bit."""

from ..cases.case import Case, Decoder, Unmappable
from ..cases.values import Outcome, Raised, flatten, to_value
from .execute import Execution, gradient_inputs


class TracedExecution(Execution):
    """As Execution, in a framework with `nn.Graph`: forward and gradients are each a program that is traced and then run.

    A program that eager mode runs and a trace cannot (the shape of a result depends on values, say) raises as it does for a
    user. One that answers other bits than eager mode raises GraphDiffers.
    """

    def __init__(self, W, function, case: Case, uninitialised: bool):
        super().__init__(W, function, case)
        self._uninitialised = uninitialised
        self._state = W.get_rng_state()
        self._eager = Execution(W, function, case)

    def forward(self) -> Outcome:
        eager = self._eager.forward()
        after = self._W.get_rng_state()
        self._W.set_rng_state(self._state)
        traced = self._traced_forward()
        self._W.set_rng_state(after)
        return self._judged(traced, eager)

    def _traced_forward(self) -> Outcome:
        case = self._case
        try:
            args, kwargs = self._decoder.decode(case.args), self._decoder.decode(case.kwargs)
        except Exception as error:
            return Outcome(raised=Raised.of(error))
        try:
            result = self._program(self._function)(args, kwargs)
        except Exception as error:
            return Outcome(raised=Raised.of(error))
        return self._collect(result)

    def _program(self, body):
        class Program(self._W.nn.Graph):
            def build(self, args, kwargs):
                return body(*args, **kwargs)
        return Program()

    def differentiable(self) -> list:
        return self._eager.differentiable()

    def output(self, position: int):
        return self._eager.output(position)

    def backward(self) -> Outcome:
        eager = self._eager.backward()
        after = self._W.get_rng_state()
        self._W.set_rng_state(self._state)
        traced = self._traced_backward()
        self._W.set_rng_state(after)
        return self._judged(traced, eager)

    def _traced_backward(self) -> Outcome:
        W, case = self._W, self._case
        decoder = Decoder(W, case.storages)
        try:
            args, kwargs = decoder.decode(case.args), decoder.decode(case.kwargs)
            inputs = [decoder.decode(spec) for spec in gradient_inputs(case)]
            cotangents = [decoder.decode(spec) for _, spec in case.cotangents]

            def body(args, kwargs, inputs, cotangents):
                result = self._function(*args, **kwargs)
                if case.process is not None:
                    result = self._process(result)
                _, found = flatten(result, W)
                outputs = [found[position] for position, _ in case.cotangents]
                return W.autograd.grad(outputs, inputs, cotangents, allow_unused=True)

            grads = self._program(body)((args, kwargs, inputs, cotangents), {})
            return Outcome("gradients", [to_value(grad, W) for grad in grads])
        except Unmappable as error:
            return Outcome(unmappable=str(error))
        except Exception as error:
            return Outcome(raised=Raised.of(error))

    def _judged(self, traced: Outcome, eager: Outcome) -> Outcome:
        """The traced outcome; an error where eager mode answered otherwise."""
        if traced.raised is not None and eager.raised is not None:
            return eager  # both refuse, each in its words
        if traced.raised is not None:
            return Outcome(raised=Raised(("NotTraced", *traced.raised.names), f"not traced: {traced.raised.message}"))
        if eager.raised is not None:
            return Outcome(raised=Raised(("GraphDiffers",), f"eager mode raised {eager.raised}, the graph did not"))
        if traced.unmappable is None and not self._uninitialised and traced.values != eager.values:
            return Outcome(raised=Raised(("GraphDiffers",), f"graph differs from eager: {_difference(traced.values, eager.values)}"))
        return traced


def _difference(traced: list, eager: list) -> str:
    for i, (a, b) in enumerate(zip(traced, eager)):
        if a != b:
            same_kind = a is not None and b is not None and (a.dtype, a.shape) == (b.dtype, b.shape)
            return f"result {i}: " + ("other bits" if same_kind else f"{a} for {b}")
    return f"{len(traced)} results for {len(eager)}"
