"""Calls of the functions in `cases/plans.py`: tensors as those of any operation, and a plan, drawn option by option."""

from ..cases import plans
from ..cases.case import Case
from . import arguments, assembling, keeping, recording
from .choices import Choices
from .signature import Overload, Parameter

FAMILY = "plan"
_PLANS = {**recording.PLANS, **keeping.PLANS, **assembling.PLANS}


def overloads() -> tuple[Overload, ...]:
    """One for each function."""
    return tuple(Overload(path, path, tuple(Parameter(name, "Tensor", False, False) for name in plans.tensors_of(path)), family=FAMILY)
                 for path in sorted(plans.FUNCTIONS))


def make(overload: Overload, dtype: str, choices: Choices, grad: float) -> Case:
    """A call: tensors as any operation's, and a plan, of which some options are left out."""
    case = arguments.make(overload, dtype, choices, max(grad, 0.5))
    case.kwargs = {name: value for name, value in _PLANS[overload.path](choices).items() if choices.chance(0.85)}
    return case
