"""What of a tensor's surface no aten schema tells: constructors from Python data, indexing, operators with what is no tensor, attributes.

They are calls as all others, of `torch.tensor`, `Tensor.__getitem__`, `Tensor.T.__get__` and their kin; attributes are found in
PyTorch's own class. PyTorch decides what is valid.
"""

import types
from functools import lru_cache

import torch

from ..cases.case import Case
from . import arguments, fill
from .choices import Choices
from .signature import Overload, Parameter

FAMILY = "surface"
_CONSTRUCTORS = ("tensor", "as_tensor", "asarray")
_OPERATORS = ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod", "pow", "rpow", "matmul", "eq", "ne", "lt",
              "le", "gt", "ge", "and", "or", "xor", "lshift")
_KEYWORDS = (Parameter("dtype", "Optional[ScalarType]", True, True), Parameter("requires_grad", "bool", True, True))
#: Attributes that name places in memory or PyTorch's own objects, or are set and not read.
_NOT_READ = {"__dict__", "__weakref__", "_backward_hooks", "_post_accumulate_grad_hooks", "_cdata", "cdata", "grad_fn", "name", "names", "volatile"}
_NUMPY = ("float64", "int64", "float32", "bool", "uint8", "complex64")


@lru_cache(maxsize=1)
def overloads() -> tuple[Overload, ...]:
    """One overload per constructor, operator and attribute, by name."""
    found = [_overload(path, (Parameter("data", "Data", False, False), *_KEYWORDS)) for path in _CONSTRUCTORS]
    found += [_overload("Tensor.__getitem__", _of(Parameter("index", "Index", False, False))),
              _overload("Tensor.__setitem__", _of(Parameter("index", "Index", False, False), Parameter("value", "Value", False, False)))]
    found += [_overload(f"Tensor.__{name}__", _of(Parameter("other", "Operand", False, False))) for name in _OPERATORS]
    found += [_overload(f"Tensor.{name}.__get__", _of()) for name, kind in _attributes()]
    return tuple(sorted(found, key=lambda overload: overload.name))


def _overload(path: str, parameters: tuple) -> Overload:
    return Overload(path, path, parameters, family=FAMILY)


def _of(*parameters: Parameter) -> tuple:
    return Parameter("self", "Tensor", False, False), *parameters


def _attributes() -> list:
    readable = (types.GetSetDescriptorType, property)
    return [(name, kind) for cls in reversed(torch.Tensor.__mro__) for name, kind in vars(cls).items()
            if isinstance(kind, readable) and name[0] != "_" and name not in _NOT_READ]


def make(overload: Overload, dtype: str, choices: Choices, grad: float) -> Case:
    """A call of `overload`."""
    writes = overload.name == "Tensor.__setitem__"  # a leaf that requires a gradient may not be written
    return _Call(overload, dtype, choices, grad * (not writes)).case()


class _Call(arguments.Call):
    """A call whose parameters may be Python's and NumPy's own objects."""

    def _value(self, parameter: Parameter):
        maker = {"Data": self._data, "Index": self._index, "Operand": self._operand, "Value": self._new_value}.get(parameter.type)
        return maker() if maker else super()._value(parameter)

    def _data(self):
        """Nested lists, mixed and uneven at times, of numbers, arrays and tensors."""
        how = self._choices.pick(("nested", "nested", "number", "numpy", "tensor", "range", "parts"))
        if how == "nested":
            return self._nested(self._choices.pick((1, 2, 0, 3)))
        if how == "range":
            return range(*self._choices.pick(((3,), (0,), (5, 1, -2))))
        if how == "parts":
            return [self._array(()) if self._choices.chance(0.5) else self._number("x") for _ in range(self._choices.pick((2, 1, 3)))]
        return {"number": self._scalar, "numpy": lambda: self._array(self._shape), "tensor": lambda: self._tensor("data")}[how]()

    def _nested(self, depth: int):
        if not depth:
            return self._scalar()
        length = self._choices.pick((2, 3, 1, 0))
        found = [self._nested(depth - 1) for _ in range(length)]
        if found and self._choices.chance(0.05):
            found[-1] = self._scalar()  # uneven, where the others are lists
        return tuple(found) if self._choices.chance(0.2) else found

    def _scalar(self):
        return self._choices.pick((1, 2.5, 0, -1, True, -0.0, 300, 2**31, 2**40, -2**63, 1e40, float("nan"), float("inf"), 1j))

    def _array(self, size: tuple):
        """A NumPy array, contiguous or stepped."""
        dtype = self._choices.pick(_NUMPY)
        stride, offset, length = fill.layout(self._choices, size)
        return self._numpy(dtype, self._fill(), size, stride, offset, min(length, fill.LONGEST)) if length <= fill.LONGEST else 1

    def _operand(self):
        how = self._choices.pick(("number", "numpy", "tensor", "list", "range", "bool", "complex", "scalar array"))
        if how == "list":
            return [self._scalar() for _ in range(self._choices.pick((2, 1, 3)))]
        return {"number": lambda: self._number("other"), "numpy": lambda: self._array(self._relative()), "tensor": lambda: self._tensor("other"),
                "range": lambda: range(self._choices.pick((2, 3, 1))), "bool": lambda: self._choices.chance(0.5), "complex": lambda: 1 + 2j,
                "scalar array": lambda: self._array(())}[how]()

    def _new_value(self):
        """What to write: a number fits everywhere."""
        return self._number("value") if self._choices.chance(0.5) else self._operand()

    def _index(self):
        """Anything between the brackets: alone, or several."""
        if self._choices.chance(0.4):
            return self._one_index(0)
        return tuple(self._one_index(axis) for axis in range(self._choices.between(0, 3)))

    def _one_index(self, axis: int):
        size = self._tensors[0].size
        extent = size[axis] if axis < len(size) else 1
        how = self._choices.pick(("slice", "int", "none", "ellipsis", "list", "tensor", "mask", "bool", "numpy", "range", "bools"))
        if how == "slice":
            ends = [self._choices.pick((None, 0, 1, -1, 2, 9)) for _ in range(2)]
            return slice(*ends, self._choices.pick((None, 1, 2, -1)))
        if how == "int":
            return self._choices.between(0, max(extent, 1)) - (extent if self._choices.chance(0.3) else 0)
        if how == "list":
            return [self._choices.below(max(extent, 1)) for _ in range(self._choices.pick((2, 1, 0, 3)))]
        if how == "bools":
            return [self._choices.chance(0.5) for _ in range(extent)]
        if how == "tensor":
            return self._new("int64", ("below", max(extent, 1)), self._choices.pick(((2,), (), (2, 2), (0,))))
        if how == "mask":
            return self._new("bool", "whole", size[axis:axis + self._choices.pick((1, 2))])
        if how == "numpy":
            return self._numpy("int64", ("below", max(extent, 1)), (2,), (1,), 0, 2)
        return {"none": None, "ellipsis": Ellipsis, "bool": self._choices.chance(0.5), "range": range(min(extent, 2))}[how]
