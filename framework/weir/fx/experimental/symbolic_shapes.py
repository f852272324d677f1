"""Symbolic shapes, which weir has not: every shape is of plain numbers."""
from weir._absent import absent as _absent

ShapeEnv = _absent("fx.experimental.symbolic_shapes.ShapeEnv", "weir has no symbolic shapes")


def guard_size_oblivious(expr):
    return bool(expr)


guard_or_false = guard_or_true = statically_known_true = guard_size_oblivious


def is_concrete_bool(a):
    return True
