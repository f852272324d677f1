"""Parameters, buffers and other subclasses take part in what Python does with a tensor."""
import copy
import operator

import pytest
import torch
import weir

OPERATIONS = {
    "iteration": lambda x: [row.tolist() for row in x], "unpacking": lambda x: [row.tolist() for row in (lambda a, b: (a, b))(*x)],
    "in": lambda x: (1.0 in x, 7.0 in x), "reversed": lambda x: [row.tolist() for row in reversed(x)], "len": len, "sum": lambda x: sum(x).tolist(),
    "zip": lambda x: len(list(zip(x, x))), "truth": bool, "number": float, "shown": str, "formatted": lambda x: f"{x}", "product": lambda x: (x @ x).tolist(),
    "power": lambda x: (2 ** x).tolist(), "row": lambda x: x[0].tolist(), "compared": lambda x: (x < 2).tolist(), "copied": lambda x: copy.deepcopy(x).tolist(),
    "hashed": lambda x: hash(x) == hash(x), "deleted from": lambda x: operator.delitem(x, 0)}


def kinds(t):
    class Own(t.Tensor):
        pass
    values = [[1.0, 2.0], [3.0, 4.0]]
    return {"parameter": t.nn.Parameter(t.tensor(values)), "buffer": t.nn.Buffer(t.tensor(values)), "own": t.tensor(values).as_subclass(Own)}


@pytest.mark.parametrize("kind", ["parameter", "buffer", "own"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_as_pytorch(kind, name):
    def outcome(t):
        try:
            return OPERATIONS[name](kinds(t)[kind])
        except (RuntimeError, TypeError, ValueError) as error:
            return type(error).__name__
    if (name, kind) != ("copied", "own"):  # PyTorch refuses to copy a subclass without new_empty
        assert outcome(weir) == outcome(torch)


def test_operators_take_the_left_operand_first():
    seen = []
    for t in (torch, weir):
        rows, columns = t.ones(4, 3), t.ones(3, 4).t()
        seen.append([[r.stride() for r in (x * p, x + p, x - p, p * x, p + x, p - x)]
                     for x, p in ((rows, t.nn.Parameter(columns)), (columns, t.nn.Parameter(rows)))])
    assert seen[0] == seen[1]


def test_of_a_class_of_ones_own():
    def shown(t):
        class Own(t.Tensor):
            pass
        module = t.nn.Module()
        module.w = t.nn.Parameter(t.ones(3).as_subclass(Own))
        module.w.sum().backward()
        t.optim.SGD(module.parameters(), 0.5).step()
        plain = isinstance(t.ones(1), t.nn.Parameter), isinstance(3, t.nn.Parameter)
        return type(module.w).__name__, isinstance(module.w, t.nn.Parameter), repr(list(module.parameters())), list(module.state_dict()), plain
    assert shown(weir) == shown(torch)
