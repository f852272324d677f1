"""Plans of custom Functions, hooks and Parameters (`cases/recording.py`): which passes, which marks, which hooks where."""

from ..cases.recording import BACKWARD, BINARY, UNARY
from .choices import Choices

_PLACES = ("leaf", "middle", "last")
_HOOKS = ("log", "double", "zero", "accumulated", "sum", "write")
_MODULE_HOOKS = (("forward", "before", "backward", "before backward"), ("log", "double", "one"))
_USES = ("iterate", "index", "slice", "data", "detach", "clone", "in place", "data in place", "view", "deepcopy", "length", "contains", "reversed",
         "double", "wrapped", "frozen", "write", "unbind", "repr")


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


PLANS = {"recording.function": _function, "recording.hooks": _hooks, "recording.module_hooks": _module_hooks, "recording.parameters": _parameters}
