"""Numbers that ops take from tensors among a graph's arguments, and the places of these in memory: a plan holds for one, and is made anew for others."""

import pytest
import torch
import weir
from twins import assert_close, to_weir
from weir import nn


class Program(nn.Graph):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def build(self, *args):
        return self.function(*args)


X = torch.arange(12.).reshape(4, 3)
CALLS = {
    "narrow": (lambda T, x, n: T.narrow(x, 0, n, 1) * 2, torch.tensor(1), torch.tensor(3)),
    "tensor_split by number": (lambda T, x, n: [part + 1 for part in T.tensor_split(x, n)], torch.tensor(2), torch.tensor(3)),
    "tensor_split at places": (lambda T, x, n: [part + 1 for part in T.tensor_split(x, n)], torch.tensor([1, 2]), torch.tensor([0, 3])),
    "alpha": (lambda T, x, n: T.add(x, x, alpha=n), torch.tensor(2.5), torch.tensor(-1.0)),
    "dim": (lambda T, x, n: x.sum(n), torch.tensor(0), torch.tensor(1)),
    "an element of a list": (lambda T, x, n: x.reshape(n, -1), torch.tensor(2), torch.tensor(6)),
    "an element of an argument": (lambda T, x, n: T.eye(n[1]), torch.tensor([5, 2]), torch.tensor([5, 4])),
    "a bound of random numbers": (lambda T, x, n: T.randint_like(x, n) * 0 + n, torch.tensor(3), torch.tensor(8)),
    "an index": (lambda T, x, n: x[n], torch.tensor(1), torch.tensor(-1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_another_number_makes_another_plan(name):
    call, *numbers = CALLS[name]
    program = Program(lambda x, n: call(weir, x, n))
    for n in (*numbers, numbers[0]):
        got = program(*to_weir([X, n]))
        assert_close(got, call(torch, X, n))
    assert program.num_plans == len(program.traces) <= 2


def test_numbers_of_gradients():
    def step(x, n):
        y = (x.narrow(0, n, 2) ** 3).sum()
        return weir.autograd.grad(y, x)
    program = Program(step)
    for n in (0, 2):
        x = weir.ones(4).requires_grad_()
        expected = weir.zeros(4)
        expected[n:n + 2] = 3
        assert program(x, weir.tensor(n))[0].tolist() == expected.tolist()


@pytest.mark.parametrize("function", [lambda x, n: x * n.item(), lambda x, n: x * float(n), lambda x, n: x if n > 0 else -x,
                                      lambda x, n: x.narrow(0, n + 1, 1), lambda x, n: x.narrow(0, n.add_(1), 1)],
                         ids=["item", "float", "truth", "a new number", "a written number"])
def test_other_values_are_not_read(function):
    with pytest.raises(nn.graph.Untraceable, match="the value of a tensor"):
        Program(function)(weir.ones(3), weir.tensor(1))


def test_numbers_of_parameters_are_not_read():
    with pytest.raises(nn.graph.Untraceable, match="the value of a tensor"):
        start = weir.tensor(1)
        Program(lambda x: x.narrow(0, start, 1))(weir.ones(3))


def test_plans_of_old_numbers_go():
    program = Program(lambda x, n: x.narrow(0, n, 1))
    x = weir.arange(40)
    assert [program(x, weir.tensor(n)).item() for n in range(40)] == list(range(40))
    assert program.num_plans < 40


def test_what_holds_for_one_number_is_not_saved(tmp_path):
    program = Program(lambda x, n: x.narrow(0, n, 1) + 1)
    with pytest.raises(RuntimeError, match="numbers from its arguments"):
        program.save(tmp_path / "graph", weir.ones(3), weir.tensor(1))


def parts(T, memory):
    whole = T.arange(20.)
    return memory(whole)


@pytest.mark.parametrize("memory", [lambda w: w[2:12], lambda w: w[4:14:2], lambda w: w[:10], lambda w: w])
def test_the_place_of_an_argument_in_its_memory(memory):
    def call(T, x):
        shown = x.as_strided((2, 2), (1, 2), 1) * 2
        return shown, x.storage_offset(), x.as_strided((2,), (1,)) + 1, x.view(T.int32)[1:2] if x.stride(0) == 1 else None
    program = Program(lambda x: call(weir, x))
    for _ in range(2):
        assert_close(program(parts(weir, memory)), call(torch, parts(torch, memory)))
    assert program.num_plans == 1


def test_complex_numbers_that_would_begin_between_two_are_refused_as_in_eager_mode():
    program = Program(lambda x: weir.view_as_complex(x) * 1)
    whole = weir.arange(9.)
    assert program(whole[2:6].view(2, 2)).tolist() == [2 + 3j, 4 + 5j]
    with pytest.raises(RuntimeError, match="storage_offset divisible by 2"):
        program(whole[1:5].view(2, 2))


def test_nothing_beyond_all_memory():
    """Bytes before an argument of no elements are not counted where it says that it begins."""
    x = weir.ones(4, dtype=weir.float64)
    program = Program(lambda x, y: (x.sum() + y * 2, x * 2))
    for place in (0, 2**62, 2**60 + 1):
        nothing = x.as_strided((0,), (1,), place)
        total, none = program(nothing, x)
        assert total.tolist() == [2.0] * 4 and none.shape == (0,)


def test_another_place_makes_another_plan():
    program = Program(lambda x: x.as_strided((2,), (3,), 1) * 1)
    whole = weir.arange(12.)
    assert [program(whole[k:k + 3]).tolist() for k in (0, 4, 0)] == [[1.0, 4.0]] * 3
    assert program.num_plans == 2


def test_writes_beyond_an_argument():
    def write(x):
        x.as_strided((2,), (3,), 1).mul_(10)
        return x.sum()
    whole = weir.arange(8.)
    assert Program(write)(whole[2:5]).item() == 45
    assert whole.tolist() == [0, 10, 2, 3, 40, 5, 6, 7]
