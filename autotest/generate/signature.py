"""The signature of an operation as data, for processes that hold no framework."""

from dataclasses import dataclass

from ..cases import dtypes


@dataclass(frozen=True)
class Parameter:
    """A parameter of an overload; `type` is aten's type text, `Tensor`, `List[int]`, `Optional[float]`, ...

    `options`, if any, are all the values worth passing.
    """

    name: str
    type: str
    keyword_only: bool
    has_default: bool
    size: int = 0  # of a fixed-size list such as int[2]
    options: tuple = ()


@dataclass(frozen=True)
class Overload:
    """One signature of a public operation, or of a class whose objects are tried.

    `path` is where users find it; `inplace` the path of its in-place twin, "" if it has none; `out` the dtype-carrying
    outputs that an `out=` variant takes, 0 if it has none. `family` is the kind of case where that is no plain call:
    program, module, optimizer, scheduler; surface or plan.
    """

    name: str
    path: str
    parameters: tuple
    inplace: str = ""
    out: int = 0
    random: bool = False
    backend: bool = False
    pointwise: bool = False  # each element of the result comes from the elements at its own place
    family: str = ""
    written: bool = False  # in Python, which knows parameters by their own names alone

    @property
    def operation(self) -> str:
        """The name without that of the overload."""
        return self.name if self.family else self.name.split(".")[0]

    @property
    def kin(self) -> str:
        """What those share that start from the same samples, or, as optimizers and their schedulers, from the same imports."""
        return "optim" if self.path.startswith("optim.") else self.operation

    def takes(self, dtype: str) -> bool:
        """Whether cases of `dtype` can be made: objects hold floating parameters."""
        return self.family in ("", "program", "surface", "plan") or dtype in dtypes.EPSILON

    def __str__(self) -> str:
        return self.name
