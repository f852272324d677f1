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


@pytest.mark.parametrize("text", ["x @ 3", "3 @ x", "x @ 1j", "~x", "+(x > 1)", "(2 + 0j) in x", "2j in x", "[2] in x", "+x", "~(x > 1)"])
def test_operators_answer_or_refuse(text):
    answers = []
    for t in (torch, weir):
        try:
            answer = eval(text, {"x": t.tensor([1.0, 2.0])})
            answers.append(answer if isinstance(answer, bool) else answer.tolist())
        except Exception as e:  # of any type, which is what is asked
            answers.append(type(e))
    assert answers[0] == answers[1]
