"""Faults planted in a right subject, to see which of them the harness notices.

A mutant wraps the function under test. It reports whether it changed anything at all in a call, since a fault that
changes nothing cannot be found.
"""

from . import aimed, circumstances, faults
from .aimed import AIMED

#: Every fault by its name.
KINDS = {fault.__name__: fault for fault in (*faults.FAULTS, *circumstances.FAULTS, *aimed.FAULTS)}
CONTROL = faults.nothing.__name__
_CHANGES = {**KINDS, CONTROL: faults.nothing}
_AROUND = {*faults.AROUND, *circumstances.FAULTS, *aimed.FAULTS}


def aims_at(kind: str, names: set) -> bool:
    """Whether the fault can be in an operation of these names."""
    return kind not in AIMED or bool({name.removesuffix("_") for name in names} & AIMED[kind])


class Mutant:
    """`function` of framework `W` with the fault `kind`; `applied` tells, when a case is over, whether the last call
    was changed."""

    def __init__(self, kind: str, function, W):
        self._change = _CHANGES[kind]
        self._function = function
        self._W = W
        self.applied = False

    def __call__(self, *args, **kwargs):
        self.applied = False
        if self._change in _AROUND:
            try:
                result, self.applied = self._change(self._W, self._function, args, kwargs)
            except faults.Misnamed:
                self.applied = True
                raise
            return result
        result = self._function(*args, **kwargs)
        if isinstance(result, self._W.Tensor):
            changed = self._change(self._W, result, args, kwargs)
            self.applied = changed is not None
            return changed if self.applied else result
        return result


class Plant:
    """Wraps functions in mutants of one kind; `applied` says whether any of them changed a call."""

    def __init__(self, kind: str, W):
        self._kind, self._W, self._mutants = kind, W, []

    def __call__(self, function) -> Mutant:
        self._mutants.append(Mutant(self._kind, function, self._W))
        return self._mutants[-1]

    @property
    def applied(self) -> bool:
        """Whether any of them changed a call."""
        return any(bool(mutant.applied) for mutant in self._mutants)
