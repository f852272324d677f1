"""Plans of containers and loaders (`cases/assembling.py`): which kind, which steps, which orders."""

from ..cases.assembling import COLLATES, CONTAINERS, DATA, KEYED, KEYED_STEPS, SAMPLERS, STEPS
from .choices import Choices


def _containers(choices: Choices) -> dict:
    kind = choices.pick(CONTAINERS)
    steps = KEYED_STEPS if (kind in KEYED) != choices.chance(0.05) else STEPS
    return {"kind": kind, "parts": choices.pick((2, 1, 3, 0)),
            "does": tuple((choices.pick(steps), choices.below(4)) for _ in range(choices.pick((1, 2, 3))))}


def _loading(choices: Choices) -> dict:
    return {"data": choices.pick(DATA), "size": choices.pick((7, 4, 1, 0, 13)), "batch": choices.pick((2, 3, 1, None, 8, 0)), "shuffle": choices.chance(0.4),
            "drop": choices.chance(0.3), "sampler": choices.pick(("none", "none", *SAMPLERS)), "seed": choices.pick((0, 1, 2**31)),
            "epochs": choices.pick((1, 2)), "collate": choices.pick(COLLATES), "numbers": choices.pick(((2, 3), (3, 4), (1,), (5, 2), (0, 7))),
            "own": not choices.chance(0.4), "replacement": choices.chance(0.4)}


PLANS = {"assembling.containers": _containers, "assembling.loading": _loading}
