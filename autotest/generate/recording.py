"""Plans of custom Functions, hooks and Parameters (`cases/recording.py`): which passes, which marks, which hooks where."""

from ..cases.case import Case
from ..cases.recording import BACKWARD, BINARY, FUNCTIONS, UNARY
from . import arguments
from .choices import Choices
from .signature import Overload, Parameter

FAMILY = "recording"
_TENSORS = {"recording.function": ("x", "y"), "recording.module_hooks": ("x", "weight")}
_PLACES = ("leaf", "middle", "last")
_HOOKS = ("log", "double", "zero", "accumulated", "sum", "write")
_MODULE_HOOKS = (("forward", "before", "backward", "before backward"), ("log", "double", "one"))
_USES = ("iterate", "index", "slice", "data", "detach", "clone", "in place", "data in place", "view", "deepcopy", "length", "contains", "reversed",
         "double", "wrapped", "frozen", "write", "unbind", "repr")


def overloads() -> tuple[Overload, ...]:
    """One for each function of `cases/recording.py`."""
    return tuple(Overload(path, path, tuple(Parameter(name, "Tensor", False, False) for name in _TENSORS.get(path, ("x",))), family=FAMILY)
                 for path in sorted(FUNCTIONS))


def make(overload: Overload, dtype: str, choices: Choices, grad: float) -> Case:
    """A call: tensors as any operation's, and a plan."""
    case = arguments.make(overload, dtype, choices, max(grad, 0.5))
    case.kwargs = {name: value for name, value in _PLANS[overload.path](choices).items() if choices.chance(0.6)}
    return case


def _function(choices: Choices) -> dict:
    return {"forward": _some(choices, (*BINARY, *UNARY), (1, 2, 3)), "backward": (choices.pick(BACKWARD), choices.pick(BACKWARD)),
            "saved": _some(choices, ("x", "y", "result", "none"), (1, 0, 2)), "marked": choices.chance(0.3), "constant": choices.pick((-1, 0, 1)),
            "materialize": not choices.chance(0.4), "fed": choices.pick(("itself", "copy", "view", "part")), "again": choices.chance(0.3)}


def _hooks(choices: Choices) -> dict:
    return {"before": choices.pick((*BINARY, *UNARY)), "after": choices.pick((*UNARY, *BINARY)),
            "kinds": tuple((choices.pick(_PLACES), choices.pick(_HOOKS)) for _ in range(choices.pick((1, 2, 3)))), "removed": choices.pick((-1, 0, 1)),
            "kept": _some(choices, ("middle", "last"), (1, 0, 2)), "twice": choices.chance(0.3)}


def _module_hooks(choices: Choices) -> dict:
    return {"kinds": tuple(tuple(choices.pick(options) for options in _MODULE_HOOKS) for _ in range(choices.pick((1, 2, 3)))),
            "always": choices.chance(0.3), "first": choices.chance(0.3), "removed": choices.pick((-1, 0, 1))}


def _parameters(choices: Choices) -> dict:
    return {"grad": not choices.chance(0.3), "does": _some(choices, _USES, (1, 2, 3, 4))}


def _some(choices: Choices, options: tuple, counts: tuple) -> tuple:
    return tuple(choices.pick(options) for _ in range(choices.pick(counts)))


_PLANS = {"recording.function": _function, "recording.hooks": _hooks, "recording.module_hooks": _module_hooks, "recording.parameters": _parameters}
