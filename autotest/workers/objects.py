"""Runs a case about a module, an optimizer or a scheduler in one framework, and keeps a journal of it."""

from copy import deepcopy
from types import SimpleNamespace

from ..cases import ship
from ..cases.case import Decoder, Unmappable, map_tree
from ..cases.objects import Built, ModuleCase, OptimizerCase, SchedulerCase, parts
from ..cases.values import Raised, flatten
from .journal import Journal, Writer
from .trial import CANNOT_BUILD, gradients


def observe(W, kind: type, case, wrap=lambda function: function) -> Journal:
    """What objects of class `kind` do in framework `W`. Faults of the framework become part of the journal."""
    writer = Writer(W)
    try:
        given = decoded(W, case)
    except Exception as error:
        return Journal(raised=Raised((CANNOT_BUILD,), f"cannot build the inputs: {type(error).__name__}: {error}"))
    try:
        _RUNS[type(case)](W, kind, given, writer, wrap)
    except Unmappable as error:
        writer.journal.unmappable = str(error)
    except Exception as error:
        writer.journal.raised = Raised.of(error)
    return writer.journal


def decoded(W, case) -> SimpleNamespace:
    """The fields of a case with the framework's values in them."""
    decoder = Decoder(W, case.storages)
    return SimpleNamespace(**{name: decoder.decode(part) for name, part in parts(case).items()})


def module_of(kind: type, given):
    """The module of a decoded case, as its constructor leaves it."""
    args, kwargs = map_tree(_own, (given.args, given.kwargs))
    module = kind(*args, **kwargs).to(given.dtype)
    if given.lazy:
        module(*given.inputs, **given.named)
    return module


def _own(leaf):
    """A module that is an argument, as one of its own, so that two modules made alike share nothing."""
    return deepcopy(leaf) if hasattr(leaf, "load_state_dict") else leaf


def _module(W, kind: type, given, writer: Writer, wrap) -> None:
    module = module_of(kind, given)
    writer.note("repr", repr(module), "state")
    writer.begin("loading", "state")
    module.load_state_dict(given.state)
    writer.settle()
    writer.note("state_dict", module.state_dict())
    for phase, training in (("eval", False), ("train", True)):
        writer.begin(phase)
        module.train(training)
        _call(W, wrap(module), module, given, writer, training in given.differentiated)
    state = module.state_dict()
    if not state:  # another one would only be made again
        return
    writer.begin("after training", "state")
    writer.note("state_dict", state)
    free = writer.drawn()
    again = module_of(kind, given)
    again.load_state_dict(state)
    if not free:
        writer.settle()
    writer.note("output of a reloaded module", wrap(again.eval())(*given.inputs, **given.named))


def _call(W, function, module, given, writer: Writer, differentiated: bool) -> None:
    result = function(*given.inputs, **given.named)
    writer.note("output", result)
    if not differentiated:
        return
    asked = [t for t in flatten((given.inputs, given.named), W)[1] if isinstance(t, W.Tensor) and t.requires_grad]
    asked += [p for _, p in module.named_parameters() if p.requires_grad]
    outputs = [t for t in flatten(result, W)[1] if isinstance(t, W.Tensor) and t.requires_grad]
    if outputs and asked:
        writer.note("gradients", gradients(W, outputs, asked), "gradient")


def _optimizer(W, kind: type, given, writer: Writer, wrap) -> None:
    parameters = [p for group in given.groups for p in group["params"]]
    optimizer = kind([dict(group) for group in given.groups], **given.kwargs)
    for at, grads in enumerate(given.gradients):
        writer.begin(f"step {at}", "state" if 0 < given.resume <= at else "value")
        if at and at == given.resume:
            saved = optimizer.state_dict()
            optimizer = kind([{"params": group["params"]} for group in given.groups])
            optimizer.load_state_dict(saved)
        for parameter, grad in zip(parameters, grads):
            parameter.grad = None if grad is None else grad.clone()
        optimizer.step(*[lambda: _loss(parameters)] * given.closure)
        writer.note("parameters", parameters)
    writer.begin("at the end", "state")
    writer.note("state_dict", _sorted(optimizer.state_dict()))


def _loss(parameters: list):
    """A loss with the gradients that the parameters have already."""
    return sum((p.detach() * p.grad).sum() for p in parameters if p.grad is not None)


def _scheduler(W, kind: type, given, writer: Writer, wrap) -> None:
    def made():
        groups = [{"params": [W.zeros(1, requires_grad=True)], "lr": rate} for rate in given.rates]
        optimizer = W.optim.SGD(groups, lr=0.1, momentum=0.9)
        kwargs = map_tree(lambda leaf: _build(W, leaf, optimizer), given.kwargs)
        return optimizer, kind(optimizer=optimizer, **kwargs)

    optimizer, scheduler = made()
    for at in range(given.steps):
        writer.begin(f"step {at}", "state" if 0 < given.resume <= at else "value")
        if at and at == given.resume:
            saved = optimizer.state_dict(), scheduler.state_dict()
            optimizer, scheduler = made()
            optimizer.load_state_dict(saved[0])
            scheduler.load_state_dict(saved[1])
        optimizer.step()
        scheduler.step(*given.metrics[at:at + 1] if given.metrics else ())
        options = [[float(group["lr"]), float(group["momentum"])] for group in optimizer.param_groups]
        writer.note("lr, momentum", options)
    writer.begin("at the end", "state")
    writer.note("last lr", [float(rate) for rate in scheduler.get_last_lr()])
    writer.note("names in state_dict", ", ".join(sorted(k for k in scheduler.state_dict() if k[0] != "_")))


def _build(W, leaf, optimizer):
    if not isinstance(leaf, Built):
        return leaf
    return ship.walk(W, leaf.path)(optimizer=optimizer, **leaf.kwargs)


def _sorted(tree):
    """`tree` with the entries of its dicts in order: which comes first has no meaning in an optimizer's state."""
    if isinstance(tree, dict):
        return {key: _sorted(tree[key]) for key in sorted(tree, key=str)}
    return [_sorted(item) for item in tree] if isinstance(tree, list) else tree


_RUNS = {ModuleCase: _module, OptimizerCase: _optimizer, SchedulerCase: _scheduler}
