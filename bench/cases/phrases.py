"""Lines of programs (`bench/phrases.py`), and their gradients by all inputs of real numbers."""

from functools import partial

from .. import phrases
from ..case import case, tensor

phrase = partial(case, "phrases", traffic=0)


def inputs(given: tuple, requires_grad: bool) -> list[dict]:
    described = [t if isinstance(t, dict) else tensor(*t) for t in given]
    return [{**t, "requires_grad": requires_grad and t["dtype"] == "float32"} for t in described]


CASES = [phrase(f"phrases.{name}", "gradient" if mode == "bwd" else "", inputs(given, mode == "bwd"), mode=mode)
         for entries, modes in ((phrases.DIFFERENTIABLE, ("fwd", "bwd")), (phrases.DISCRETE, ("fwd",)))
         for name, (_, *given) in entries.items() for mode in modes]
