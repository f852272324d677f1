"""Plans of copies, pickles, files and state dicts (`cases/keeping.py`): of what, in which way, and changed how."""

from ..cases.keeping import CHANGES, HOOKS, THINGS, WAYS
from .choices import Choices


def _copies(choices: Choices) -> dict:
    return {"thing": choices.pick(THINGS), "way": choices.pick(WAYS), "protocol": choices.pick((2, 4, 5, 0, 1, 3)), "times": choices.pick((1, 1, 2)),
            "weights_only": not choices.chance(0.3), "mapped": choices.pick(("nothing", "name", "device", "table", "function")), "write": choices.chance(0.5)}


def _states(choices: Choices) -> dict:
    return {"changes": tuple((choices.pick(CHANGES), choices.below(4)) for _ in range(choices.pick((1, 0, 2)))), "strict": not choices.chance(0.4),
            "assign": choices.chance(0.4), "keep": choices.chance(0.3), "prefix": choices.pick(("", "", "", "a.")),
            "hooks": tuple(choices.pick(HOOKS) for _ in range(choices.pick((0, 1, 2)))), "nested": choices.chance(0.4), "twice": choices.chance(0.1)}


PLANS = {"keeping.copies": _copies, "keeping.states": _states}
