"""framework/binding/operators.cpp: operators that write into their left operand, and operands that are no tensors."""

import operator

import pytest
import torch
import weir


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift"])
def test_the_left_operand_is_written(name):
    results = []
    for t in (torch, weir):
        x = t.tensor([12.0, 40.0]) if name == "itruediv" else t.tensor([12, 40])
        y, view = x, x[:1]
        y = getattr(operator, name)(y, 2)
        results.append((y is x, x.tolist(), view.tolist(), x._version))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod", "pow", "rpow", "and", "or", "xor", "lshift", "rshift",
                                  "iadd", "isub", "imul", "ifloordiv", "ilshift", "irshift", "eq", "lt", "gt", "ne"])
def test_unknown_operands_are_asked(name):
    answers = [getattr(t.tensor([1, 2]), f"__{name}__")(object()) for t in (torch, weir)]
    assert answers == [NotImplemented, NotImplemented]
