"""Symbolic shapes, which weir has not: every shape is of plain numbers, and questions about them are answered so."""
import dataclasses

from weir._absent import absent as _absent, absent_names as _absent_names

ShapeEnv = _absent("fx.experimental.symbolic_shapes.ShapeEnv", "weir has no symbolic shapes")
__getattr__ = _absent_names("weir.fx.experimental.symbolic_shapes", "SymNode DimDynamic RelaxedUnspecConstraint StatelessSymbolicContext "
                            "StatefulSymbolicContext StrictMinMaxConstraint SymbolicContext DimConstraints", "weir has no symbolic shapes")


def guard_size_oblivious(expr):
    return bool(expr)


guard_or_false = guard_or_true = statically_known_true = guard_size_oblivious


def is_concrete_bool(a):
    return True


def is_symbolic(val):
    """Is a number not known yet? Never."""
    return False


has_free_symbols = is_symbolic


def free_symbols(val):
    """The symbols in numbers, sizes or tensors: none."""
    return set()


free_unbacked_symbols = free_symbols


def optimization_hint(a, fallback=None):
    """What a number will likely be: itself."""
    return a


class GuardOnDataDependentSymNode(RuntimeError):
    """A number that must be known is not known yet. Never raised here; programs name it in `except`."""

    def __init__(self, cond, *args):
        super().__init__(*args)
        self.cond = cond


@dataclasses.dataclass(frozen=True, slots=True)
class DivideByKey:
    """A step of a path, from a number to it divided."""

    divisor: int

    def __str__(self):
        return f".__floordiv__({self.divisor})"

    def get(self, o):
        return o // self.divisor
