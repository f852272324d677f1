"""Element by element: aliases and formulas."""

from _weir import _renamed, ops
from weir._C import Tensor

from ._register import alias, composite, functions, methods

for _name, _target in (
        ("absolute", "abs"), ("arccos", "acos"), ("arcsin", "asin"), ("arctan", "atan"), ("arccosh", "acosh"),
        ("arcsinh", "asinh"), ("arctanh", "atanh"), ("arctan2", "atan2"), ("negative", "neg"), ("fix", "trunc"),
        ("clip", "clamp"), ("multiply", "mul"), ("divide", "div"), ("true_divide", "div"),
        ("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"), ("less_equal", "le"), ("not_equal", "ne"),
        ("sgn", "sign")):
    alias(_name, _target)
# Not the same objects: `sub` warns of an alpha by place, `subtract` does not.
functions["subtract"], methods["subtract"] = (_renamed(ops["torch"]["sub"], "subtract"),) * 2
methods["subtract_"] = _renamed(Tensor.sub_, "subtract_")


@composite(method=False, out=None)
def typename(obj):
    """Dotted name of an object's type, or of a class or function itself; a tensor's `type()`."""
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    module = getattr(named, "__module__", "") or ""
    name = getattr(named, "__qualname__", None) or named.__name__
    return name if module in ("builtins", "") else f"{module}.{name}"


@composite(method=False)
def is_tensor(obj):
    """Is it a Tensor?"""
    return isinstance(obj, Tensor)


@composite(method=False, out=None)
def is_floating_point(input: Tensor):
    """Is its dtype a floating-point one?"""
    return input.is_floating_point()


@composite(method=False, out=None)
def is_nonzero(input: Tensor):
    """Is the one element nonzero?"""
    return bool(input)


@composite(method=False, out=None)
def numel(input: Tensor):
    """The number of elements."""
    return input.numel()
