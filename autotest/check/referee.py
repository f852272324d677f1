"""The second hearing: asks the oracle for a double-precision reference, only when one is needed."""

import numpy as np

from ..cases.case import TensorSpec, leaves
from ..cases.dtypes import EPSILON
from ..cases.protocol import Plan, Reference, Sample
from ..cases.values import Outcome
from . import tolerance


class Referee:
    """Decides, for one sample, about elements that the cheap tolerance rejected.

    `ask(target, case, seed)` returns the oracle's Reference. `used_default` tells afterwards
    whether an op without a double-precision reference was judged by assert_close's tolerance.
    """

    def __init__(self, plan: Plan, sample: Sample, ask):
        self._plan = plan
        self._sample = sample
        self._ask = ask
        self._reference: Reference | None = None
        self.used_default = False

    def accepts(self, phase: str, position: int, w: np.ndarray, t: np.ndarray, epsilon: float) -> np.ndarray:
        """The mask of accepted elements of value `position` of `phase` (forward or backward)."""
        if self._reference is None:
            self._reference = self._ask(self._plan.target, self._sample.case, self._sample.index)
        runs = getattr(self._reference, phase)
        arrays = [_array(run, position, t.shape) for run in runs]
        if not arrays or arrays[0] is None:
            self.used_default = True
            return tolerance.default_close(w, t, *self._plan.default_tolerance)
        perturbed = [array for array in arrays[1:] if array is not None]
        return tolerance.conditioned(w, t, arrays[0], perturbed, epsilon, factory=self._is_factory())

    def _is_factory(self) -> bool:
        case = self._sample.case
        return not any(isinstance(leaf, TensorSpec) and leaf.dtype in EPSILON
                       for leaf in leaves((case.args, case.kwargs)))


def _array(run: Outcome, position: int, shape: tuple) -> np.ndarray | None:
    """Value `position` of a reference run, None if the run failed or its shape differs."""
    if run.raised or run.unmappable:
        return None
    values = run.values if run.processed is None else run.processed
    if position >= len(values) or values[position] is None or values[position].shape != shape:
        return None
    return values[position].array()
