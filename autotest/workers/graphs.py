"""The property `graph`: a case also runs as an `nn.Graph`, forward and gradients, and must equal eager mode bit for bit.

Two kinds of case stand apart: those whose results have shapes, or are Python values, that depend on the numbers, which no
framework can trace; and those that the subject refuses by a named error. Neither may answer otherwise than eager mode.
"""

from contextlib import contextmanager

import numpy as np

from ..cases import ship
from ..cases.case import Decoder, TensorSpec, gradient_inputs, leaves
from ..cases.dtypes import EPSILON
from ..cases.objects import ModuleCase, OptimizerCase, SchedulerCase
from ..cases.values import Raised, flatten, to_value
from ..check.properties import Fault
from .objects import decoded, module_of
from .program import Run
from .seeding import seed
from .trial import Trial, cotangent

#: Beside "graph" itself, charged to nobody: how many of the absent ones are so because of values.
DYNAMIC = "dynamic shape"

#: Errors by which a subject says that it does not trace something.
_NAMED = {"Untraceable", "NotImplementedError"}


def faults(W, item, function, got) -> list[Fault]:
    """What is wrong with the call as a graph; eager mode observed `got`."""
    if not hasattr(getattr(W, "nn", None), "Graph"):
        return [Fault("graph", "no nn.Graph", absent=True)]
    if (item.draws or item.expected.raised) and not got.raised:  # where the oracle refuses, nobody knows whether numbers are drawn
        seed(W)
        got = Trial(W, function, item.case).run()
        seed(W)
    return _judged(lambda: _Traced(W, function, item.case, got).difference(item.random and not item.draws), got.raised,
                   any(value is not None and value.dtype.startswith("python") for value in got.values))


def program_faults(W, item, got) -> list[Fault]:
    """As `faults`, of a whole program."""
    if not hasattr(getattr(W, "nn", None), "Graph"):
        return [Fault("graph", "no nn.Graph", absent=True)]
    return _judged(lambda: _program_difference(W, item.case, got), got.raised)


def object_faults(W, item, kind) -> list[Fault]:
    """As `faults`, of a module's forward and backward or an optimizer's steps."""
    if isinstance(item.case, SchedulerCase):
        return []
    if not hasattr(getattr(W, "nn", None), "Graph"):
        return [Fault("graph", "no nn.Graph", absent=True)]
    return _judged(lambda: _DIFFERENCES[type(item.case)](W, kind, item.case), None)


class _EagerRaises(Exception):
    """What eager mode cannot do, no graph is asked for: its error is judged with what it answers."""


@contextmanager
def _asked(graph: bool):
    """Runs a part of an object's case, in eager mode or as a graph, whose errors are its own."""
    try:
        yield
    except Exception as error:
        if graph:
            raise
        raise _EagerRaises from error


def _judged(difference, raised: Raised | None, python_values: bool = False) -> list[Fault]:
    """`difference()` says what a graph answered otherwise, or raises what the graph raised; eager mode raised `raised`."""
    try:
        found = difference()
    except _EagerRaises:
        return []
    except Exception as error:
        names = Raised.of(error).names
        if raised:
            return []
        if "DynamicShape" in names or ("Untraceable" in names and python_values):
            return [Fault("graph", "depends on values", absent=True), Fault(DYNAMIC, str(error), absent=True)]
        return [Fault("graph", f"not traced: {Raised.of(error)}", absent=bool(_NAMED & set(names)))]
    if raised and {"MemoryError", "NotImplementedError"} & set(raised.names):
        return []  # there was none left to look at what eager mode answered; or it has no answer, in an op that a graph may find unused
    if raised:
        return [Fault("graph", f"eager mode raises {raised}, the graph does not")]
    return [Fault("graph", found)] if found else []


class _Traced(Trial):
    """The call of a case inside an `nn.Graph`."""

    def __init__(self, W, function, case, eager):
        super().__init__(W, function, case)
        self._eager = eager

    def difference(self, free: bool) -> str:
        """What the graph answers otherwise, "" for nothing; `free`: values mean nothing."""
        W, eager = self._W, self._eager
        args, kwargs = self._decoded()
        asked = [self._decoder.decode(spec) for spec in gradient_inputs(self._case)] if isinstance(eager.gradients, list) else []
        result, grads = _run(W, self._body, args, kwargs, asked)
        if free or eager.raised or eager.unmappable:
            return ""
        structure, found = flatten(result, W)
        if structure != eager.structure:
            return f"structure {structure}, eager {eager.structure}"
        written = {key: to_value(self._decoder.tensors[key] if key >= 0 else self._around[-1 - key], W) for key in eager.written}
        return (_other("values", [to_value(leaf, W) for leaf in found], eager.values)
                or _other("gradients", [to_value(g, W) for g in grads], eager.gradients if asked else [])
                or _other("written", list(written.values()), list(eager.written.values())))

    def _body(self, args, kwargs, asked):
        W, case = self._W, self._case
        with self._context():
            result = self._function(*self._writable(args), **kwargs)
        if not asked:
            return result, []
        processed = ship.build(case.process, W)(result) if case.process is not None else result
        second = case.differentiate > 1 and not (isinstance(self._eager.second, Raised) and "NotImplementedError" in self._eager.second.names)
        return result, _gradients(W, flatten(processed, W)[1], asked, second)


def _run(W, body, *args):
    class Program(W.nn.Graph):
        def build(self, *args):
            return body(*args)
    return Program()(*args)


def _gradients(W, found: list, asked: list, create_graph: bool = False) -> list:
    outputs = [t for t in found if isinstance(t, W.Tensor) and t.requires_grad]
    if not outputs or not asked:
        return []
    return list(W.autograd.grad(outputs, asked, [cotangent(t, W) for t in outputs], allow_unused=True, create_graph=create_graph))


def same_numbers(a, b, signed_zeros: bool) -> bool:
    """Whether two values differ in the bits of NaNs only, since which of two operands gives its sign depends on their order, and in the
    sign of zeros where that is not asked for."""
    if a is None or b is None or (a.dtype, a.shape) != (b.dtype, b.shape) or a.number_dtype not in EPSILON:
        return False
    parts = [value.array().reshape(-1).view(value.array().real.dtype) for value in (a, b)]
    numbers = [np.nan_to_num(part, posinf=np.inf, neginf=-np.inf) + (-0.0 if signed_zeros else 0.0) for part in parts]
    return (np.isnan(parts[0]) == np.isnan(parts[1])).all() and numbers[0].tobytes() == numbers[1].tobytes()


def _other(what: str, traced: list, eager: list) -> str:
    """Where two lists of values differ, "" for nowhere. Eager mode adds gradients of views where they lie, a graph adds zeros elsewhere,
    which takes the sign of a zero there."""
    if len(traced) != len(eager):
        return f"{len(traced)} {what}, eager {len(eager)}"
    for i, (a, b) in enumerate(zip(traced, eager)):
        if a != b and not same_numbers(a, b, signed_zeros=what != "gradients"):
            same_kind = a is not None and b is not None and (a.dtype, a.shape) == (b.dtype, b.shape)
            return f"{what} {i}: " + ("other bits than eager" if same_kind else f"{a}, eager {b}")
    return ""


def _program_difference(W, program, eager) -> str:
    decoder = Decoder(W, program.storages)
    for leaf in leaves(tuple((step.args, step.kwargs) for step in program.steps)):
        if isinstance(leaf, TensorSpec):
            decoder.decode(leaf)

    def body(tensors):
        run = Run(W, program)
        run.take(tensors)
        for step in program.steps:
            run.go(step)
        return run.left(isinstance(eager.gradients, list))

    alive, grads = _run(W, body, decoder.tensors)
    return (_other("final tensors", [to_value(t, W) for t in alive], eager.final)
            or _other("gradients", [to_value(g, W) for g in grads], eager.gradients if isinstance(eager.gradients, list) else []))


def _module_difference(W, kind, case: ModuleCase) -> str:
    for training in (False, True):
        answers = []
        for graph in (False, True):
            given = decoded(W, case)
            module = module_of(kind, given)
            module.load_state_dict(given.state)
            module.train(training)

            def body(inputs, named):
                result = module(*inputs, **named)
                if training not in given.differentiated:
                    return result, []
                asked = [t for t in flatten((inputs, named), W)[1] if isinstance(t, W.Tensor) and t.requires_grad]
                asked += [p for p in module.parameters() if p.requires_grad]
                return result, _gradients(W, flatten(result, W)[1], asked)

            seed(W)
            with _asked(graph):
                result, grads = _module_run(W, module, body, given.inputs, given.named) if graph else body(given.inputs, given.named)
            answers.append((flatten(result, W), grads, flatten(dict(module.state_dict()), W)[1]))
        (structure, found), grads, state = answers[0]
        (traced_structure, traced), traced_grads, traced_state = answers[1]
        if structure != traced_structure:
            return f"structure {traced_structure}, eager {structure}"
        for what, a, b in (("outputs", traced, found), ("gradients", traced_grads, grads), ("states", traced_state, state)):
            if wrong := _other(what, [to_value(x, W) for x in a], [to_value(x, W) for x in b]):
                return f"{'training' if training else 'evaluation'}: {wrong}"
    return ""


def _module_run(W, module, body, *args):
    class Program(W.nn.Graph):
        def __init__(self):
            super().__init__()
            self.module = module

        def build(self, *args):
            return body(*args)
    return Program()(*args)


def _optimizer_difference(W, kind, case: OptimizerCase) -> str:
    answers = []
    for graph in (True, False):  # a graph refuses before eager mode asks for a closure
        given = decoded(W, case)
        parameters = [p for group in given.groups for p in group["params"]]
        optimizer = kind([dict(group) for group in given.groups], **given.kwargs)
        step = _graph_step(W, parameters, optimizer) if graph else _eager_step(parameters, optimizer)
        answers.append([])
        with _asked(graph):
            for grads in given.gradients:
                step([None if g is None else g.clone() for g in grads])
                answers[-1] += [to_value(p, W) for p in parameters]
    return _other("parameters", *answers)


def _eager_step(parameters: list, optimizer):
    def step(grads):
        for parameter, grad in zip(parameters, grads):
            parameter.grad = grad
        optimizer.step()
    return step


def _graph_step(W, parameters: list, optimizer):
    class Program(W.nn.Graph):
        def __init__(self):
            super().__init__()
            self.add_optimizer(optimizer)

        def build(self, grads):
            for parameter, grad in zip(parameters, grads):
                parameter.grad = grad
    return Program()


_DIFFERENCES = {ModuleCase: _module_difference, OptimizerCase: _optimizer_difference}
