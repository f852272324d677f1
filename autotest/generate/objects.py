"""Makes cases about modules, optimizers and schedulers from PyTorch's databases and from constructors' signatures."""

import inspect
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial, wraps
from math import prod

import torch

from ..cases import ship
from ..cases.case import Encoder, Made, Named, TensorSpec, Unmappable, leaves, row_major
from ..cases.dtypes import EPSILON, name_of
from ..cases.objects import Built, ModuleCase, OptimizerCase, SchedulerCase
from ..cases.protocol import Item
from ..cases.target import Target
from ..workers.objects import decoded, module_of, observe
from ..workers.seeding import seed
from . import arguments, classes, fill, vary
from .choices import Choices
from .kept import kept
from .signature import Overload


def item(overload: Overload, dtype: str, choices: Choices, index: int) -> Item:
    """One case of a class and its expectation. Raises arguments.Impossible."""
    case = _MAKERS[overload.family](overload, dtype, choices)
    target = Target(f"torch.{overload.path}", [overload.path])
    expected = observe(torch, target.resolve(torch), case)
    return Item(index, target, case, expected, choices=tuple(choices.made))


# Modules.

def _module(overload: Overload, dtype: str, choices: Choices) -> ModuleCase:
    kind = ship.walk(torch, overload.path)
    samples = module_samples(overload.path, dtype)
    if overload.path == "nn.Sequential":
        case = replace(_chain(dtype, choices), dtype=Named("dtype", dtype))
        return replace(case, state=_state(kind, case, choices), differentiated=(choices.chance(0.5),))
    described = partial(replace, dtype=Named("dtype", dtype), lazy=overload.path.startswith("nn.Lazy"))
    if samples:
        sample = choices.pick(samples)
        case = described(_of_sample(vary.varied(sample, overload, dtype, choices)))
        if _large(_entries(kind, case)):  # as by default, where a keyword was dropped
            case = described(_of_sample(sample))
    else:
        case = described(_by_signature(kind, overload, dtype, choices))
    return replace(case, state=_state(kind, case, choices), differentiated=(choices.chance(0.5),))


def _chain(dtype: str, choices: Choices) -> ModuleCase:
    """Modules one after the other, which all take and give rows of four."""
    case = ModuleCase(args=tuple(choices.pick(_LINKS) for _ in range(choices.between(0, 4))))
    rows = _tensor(case, dtype, (choices.pick((2, 1, 3, 0)), 4), choices.pick(_FILLS), choices, grad=choices.chance(0.5))
    return replace(case, inputs=(rows,))


def _of_sample(sample: vary.Sample) -> ModuleCase:
    args, kwargs, inputs, named = sample.trees
    return ModuleCase(args, kwargs, inputs, named, storages=list(sample.storages))


@lru_cache(maxsize=None)
@kept
def module_samples(path: str, dtype: str) -> list:
    """The database's small inputs of a module class, as data: trees of args, kwargs, inputs and keywords of the call."""
    found = [sample for sample, _ in _module_inputs(path, dtype)]
    return vary.simplest_first([sample for sample in found if sample is not None and sample.small])


def _module_inputs(path: str, dtype: str):
    """Pairs of a sample, None where it cannot be sent to another framework, and why not."""
    from torch.testing._internal.common_modules import module_db

    for info in module_db:
        if info.name != path or getattr(torch, dtype) not in info.dtypes:
            continue
        seed(torch)
        asked = {"device": "cpu", "dtype": getattr(torch, dtype), "requires_grad": True, "training": True}
        with recorded() as made_of:
            inputs = info.module_inputs_func(info, **asked)
        for sample in inputs:
            made, call, encoder = sample.constructor_input, sample.forward_input, Encoder(torch, made_of)
            if call is None:
                yield None, "has no input"
                continue
            try:
                trees = encoder.encode((made.args, made.kwargs, call.args, call.kwargs))
            except Unmappable as error:
                yield None, str(error)
                continue
            yield vary.Sample(trees, encoder.storages), ""


@contextmanager
def recorded():
    """Remembers with what each module of `torch.nn` was made meanwhile: path, args and kwargs by id."""
    made: dict = {}
    kinds = {name: kind for name, kind in vars(torch.nn).items() if isinstance(kind, type) and issubclass(kind, torch.nn.Module)
             and "__init__" in vars(kind)}
    before = {kind: kind.__init__ for kind in kinds.values()}
    alive = []  # so that no id is used twice

    def remembering(init):
        @wraps(init)
        def __init__(self, *args, **kwargs):
            if id(self) not in made:
                made[id(self)] = f"nn.{type(self).__name__}", args, kwargs
                alive.append(self)
            init(self, *args, **kwargs)
        return __init__

    try:
        for kind, init in before.items():
            kind.__init__ = remembering(init)
        yield made
    finally:
        for kind, init in before.items():
            kind.__init__ = init


# The databases themselves, unchanged.

def database_names(database: str, dtype: str) -> list[str]:
    """The classes that PyTorch's database of modules or optimizers has for the dtype, by name."""
    from torch.testing._internal.common_modules import module_db
    from torch.testing._internal.common_optimizers import optim_db

    kind = getattr(torch, dtype)
    if database == "module":
        return sorted({info.name for info in module_db if kind in info.dtypes})
    return sorted(f"optim.{info.optim_cls.__name__}" for info in optim_db) if kind in (torch.float32, torch.float64) else []


def database_cases(database: str, path: str, dtype: str, choices: Choices) -> list[tuple]:
    """Every sample of a class as a case, with drawn parameters and gradients; None and the reason where it cannot be one."""
    kind = ship.walk(torch, path)
    if database == "optimizer":
        return [(_steps(kind, sample, dtype, choices, _MATRICES, _takes_groups(path)), "") for sample in _options(path)]
    found = []
    for sample, reason in _module_inputs(path, dtype):
        if sample is not None:
            case = replace(_of_sample(sample), dtype=Named("dtype", dtype), lazy=path.startswith("nn.Lazy"))
            found.append((replace(case, state=_state(kind, case, choices)), ""))
        else:
            found.append((None, reason))
    return found


def _by_signature(kind: type, overload: Overload, dtype: str, choices: Choices) -> ModuleCase:
    """A case from the signatures of constructor and forward, made as one call, so that their shapes may agree."""
    forward = classes.parameters(kind.forward)
    made = arguments.make(replace(overload, parameters=overload.parameters + forward), dtype, choices)
    names = {parameter.name for parameter in forward}
    kwargs = {name: value for name, value in made.kwargs.items() if name not in names}
    named = {name: value for name, value in made.kwargs.items() if name in names}
    return ModuleCase(kwargs=kwargs, named=named, storages=made.storages)


def _state(kind: type, case: ModuleCase, choices: Choices) -> dict:
    """A state dict of drawn numbers, its descriptors over the case's storages; empty if no module can be made, or if a
    varied constant made it too large: such a module refuses the empty dict."""
    entries = _entries(kind, case)
    if _large(entries):
        return {}
    state, filled = {}, choices.pick(("unit", "normal"))
    for entry in entries:
        if entry.dtype in EPSILON:  # variances, which are buffers, must be positive
            state[entry.name] = _tensor(case, entry.dtype, entry.size, filled if entry.learned else "unit", choices)
        else:
            state[entry.name] = _placed(case, entry.dtype, entry.size, entry.data)
    return state


def _large(entries: tuple) -> bool:
    return any(prod(entry.size) > fill.LONGEST for entry in entries)


@dataclass(frozen=True)
class _Entry:
    """One tensor of a state dict; `data` where it holds no floating numbers."""

    name: str
    dtype: str
    size: tuple
    learned: bool
    data: bytes


def _entries(kind: type, case: ModuleCase) -> tuple:
    """What the state dict of a case's module holds. Modules of equal numbers are asked once."""
    if any(isinstance(leaf, TensorSpec) for leaf in leaves((case.args, case.kwargs))):
        return _asked(kind, case)
    inputs = [leaf for leaf in leaves((case.inputs, case.named)) if case.lazy and isinstance(leaf, TensorSpec)]
    key = kind, case.dtype.name, repr((case.args, case.kwargs)), tuple((spec.dtype, spec.size) for spec in inputs)
    if key not in _KNOWN:
        if len(_KNOWN) == _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = _asked(kind, case)
    return _KNOWN[key]


def _asked(kind: type, case: ModuleCase) -> tuple:
    seed(torch)
    try:
        module = module_of(kind, decoded(torch, case))
    except Exception:  # of whatever class: it is raised again where the case is observed, and expected of the subject
        return ()
    learned = {name for name, _ in module.named_parameters()}
    return tuple(_Entry(name, name_of(t.dtype), tuple(t.shape), name in learned,
                        b"" if name_of(t.dtype) in EPSILON or t.numel() > fill.LONGEST else t.numpy().tobytes())
                 for name, t in module.state_dict().items())


_KNOWN: dict = {}
_MOST_KNOWN = 10_000  # a run makes some thousands, a search goes on for hours


# Optimizers.

def _optimizer(overload: Overload, dtype: str, choices: Choices) -> OptimizerCase:
    made = vary.varied(choices.pick(_options(overload.path)), overload, dtype, choices)
    return _steps(ship.walk(torch, overload.path), made, dtype, choices)


def _steps(kind: type, made: vary.Sample, dtype: str, choices: Choices, sizes: tuple | None = None, grouped: bool = True) -> OptimizerCase:
    """Some steps of an optimizer with the options of a sample, on parameters of `sizes`, at times in two groups."""
    case = OptimizerCase(kwargs=made.trees[1], storages=list(made.storages))
    case.closure = inspect.signature(kind.step).parameters["closure"].default is inspect.Parameter.empty
    parameters = [_tensor(case, dtype, choices.pick(sizes or _SIZES), "normal", choices, grad=True)
                  for _ in range(choices.pick((1, 2, 3)))]
    case.groups = [{"params": parameters}]
    if grouped and len(parameters) > 1 and choices.chance(0.4):
        case.groups = [{"params": parameters[:1]}, {"params": parameters[1:], "lr": choices.pick(_RATES)}]
    steps = choices.between(1, 6)
    case.gradients = [[_gradient(case, dtype, parameter.size, choices) for parameter in parameters]
                      for _ in range(steps)]
    case.resume = choices.below(steps)
    return case


@lru_cache(maxsize=None)
@kept
def _options(path: str) -> list:
    """The database's options of an optimizer class, as data."""
    from torch.testing._internal.common_optimizers import optim_db

    found = [vary.Sample(((), {}))]
    for info in optim_db:
        if f"optim.{info.optim_cls.__name__}" == path:
            for sample in info.optim_inputs_func("cpu"):
                encoder = Encoder(torch)
                found.append(vary.Sample(((), encoder.encode(sample.kwargs)), encoder.storages))
    return found


@lru_cache(maxsize=None)
@kept
def _takes_groups(path: str) -> bool:
    """Whether the database says so of an optimizer class: all but LBFGS."""
    from torch.testing._internal.common_optimizers import optim_db

    return any(info.supports_param_groups for info in optim_db if f"optim.{info.optim_cls.__name__}" == path)


def _gradient(case: OptimizerCase, dtype: str, size: tuple, choices: Choices) -> TensorSpec | None:
    return None if choices.chance(0.05) else _tensor(case, dtype, size, choices.pick(_FILLS), choices)


# Schedulers.

def _scheduler(overload: Overload, dtype: str, choices: Choices) -> SchedulerCase:
    step = inspect.signature(ship.walk(torch, overload.path).step).parameters
    steps = choices.between(1, 20)
    metrics = [choices.pick(_METRICS) for _ in range(steps)] if "metrics" in step else None
    rates = [choices.pick(_RATES) for _ in range(choices.pick((1, 2)))]
    return SchedulerCase(_constructor(overload, dtype, choices), rates, steps, choices.below(steps), metrics)


def _constructor(overload: Overload, dtype: str, choices: Choices) -> dict:
    """Arguments from the signature; a scheduler made of others gets some, for the same optimizer."""
    kwargs = {}
    for parameter in overload.parameters:
        if parameter.has_default and not choices.chance(0.4):
            continue
        if parameter.type == classes.SCHEDULERS:
            inner = [choices.pick(_simple_schedulers()) for _ in range(choices.pick((2, 1, 3)))]
            kwargs[parameter.name] = [Built(other.path, _constructor(other, dtype, choices)) for other in inner]
        elif parameter.name != "optimizer":
            kwargs[parameter.name] = arguments.value(overload, parameter, dtype, choices)
    return kwargs


@lru_cache(maxsize=1)
def _simple_schedulers() -> list:
    return [o for o in classes.overloads()
            if o.family == "scheduler" and all(p.type != classes.SCHEDULERS for p in o.parameters)]


# Tensors.

def _tensor(case, dtype: str, size: tuple, filled: str, choices: Choices, grad: bool = False) -> TensorSpec:
    return _placed(case, dtype, size, fill.data(dtype, filled, fill.where(choices), prod(size)), grad)


def _placed(case, dtype: str, size: tuple, data: bytes, grad: bool = False) -> TensorSpec:
    """A row-major tensor in a new storage of `case`."""
    case.storages.append((dtype, data))
    return TensorSpec(_FIRST_ID + len(case.storages), dtype, size, row_major(size), 0, len(case.storages) - 1, grad)


_MAKERS = {"module": _module, "optimizer": _optimizer, "scheduler": _scheduler}
_LINKS = (Made("nn.ReLU"), Made("nn.Linear", (4, 4)), Made("nn.LayerNorm", (4,)), Made("nn.BatchNorm1d", (4,)), Made("nn.Dropout", (0.0,)),
          Made("nn.Sequential", (Made("nn.Linear", (4, 4), {"bias": False}), Made("nn.Tanh"))), Made("nn.Identity"))
_FIRST_ID = 1000  # above the ids of samples and calls
_MATRICES = ((2, 3), (3, 2), (4, 4))  # what every optimizer takes
_SIZES = ((2, 2), (3,), (2, 3), (), (1,), (2, 1, 2), (0,))
_FILLS = ("whole", "normal", "unit", "wide")
_RATES = (0.1, 1.0, 0.01, 0.5)
_METRICS = (1.0, 0.5, 1.0, 0.9999, 2.0, 0.25)
