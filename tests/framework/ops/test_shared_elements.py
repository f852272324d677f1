"""Tensors whose elements share memory, in place and as the input of a copy, against PyTorch."""

import pytest
import torch
import weir

LAYOUTS = [((2, 2), (0, 1)), ((3, 3), (1, 0)), ((2, 2, 2), (4, 0, 1)), ((2, 3, 3), (0, 3, 1)), ((2, 3, 3), (0, 1, 3)), ((3, 3), (0, 0))]


def outcome(t, sizes, strides, call):
    memory = t.arange(1, 25).reshape(-1)
    x = memory.as_strided(sizes, strides)
    try:
        result = call(x)
    except RuntimeError:
        return "refused"
    return memory.tolist(), x._version, result.tolist(), result.stride()


@pytest.mark.parametrize("name", ["tril_", "triu_"])
@pytest.mark.parametrize("diagonal", [-1, 0, 1])
@pytest.mark.parametrize("sizes, strides", LAYOUTS)
def test_an_element_outside_the_triangle_zeroes_all_that_share_its_memory(name, diagonal, sizes, strides):
    call = lambda x: getattr(x, name)(diagonal)  # noqa: E731
    assert outcome(weir, sizes, strides, call) == outcome(torch, sizes, strides, call)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("sizes, strides", LAYOUTS)
def test_an_index_fills_all_that_share_its_memory(dim, sizes, strides):
    for name in ("index_fill_", "index_fill"):
        found = [outcome(t, sizes, strides, lambda x: getattr(x, name)(dim, t.tensor([1]), 7)) for t in (weir, torch)]  # noqa: B023
        assert found[0] == found[1], name


@pytest.mark.parametrize("name, call", {
    "itself": lambda x: x.copy_(x), "a view of itself": lambda x: x.copy_(x[:]), "another": lambda x: x.copy_(x + 1), "a part of itself": lambda x: x.copy_(x[:1]),
    "zero": lambda x: x.zero_(), "a number": lambda x: x.fill_(7), "a tensor's number": lambda x: x.fill_(x.sum())}.items())
def test_only_a_copy_of_itself_or_a_number_is_taken(name, call):
    assert outcome(weir, (3, 2), (0, 1), call) == outcome(torch, (3, 2), (0, 1), call)


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_a_scatter_by_strides_gives_them_memory_of_their_own(t):
    assert t.as_strided_scatter(t.tensor([7]).expand(5), t.arange(3), [3], [2]).tolist() == [0, 7, 1, 7, 2]


@pytest.mark.parametrize("call", ["x.conj().masked_fill_(m, 1j)", "x.conj().index_fill_(0, i, 1j)", "x.conj().imag.masked_fill_(m, 7)", "x.conj().expand(2, 3).masked_fill_(m, 1)",
                                  "x.conj().masked_fill_(m, t.tensor(2j))", "x.conj().masked_scatter_(m, x.clone())", "x.conj().tril_() if x.dim() > 1 else x.conj().fill_(1j)"])
def test_what_is_written_through_a_conjugate_view_is_conjugated(call):
    made = []
    for t in (torch, weir):
        x = t.tensor([1 + 2j, 3 + 4j, 5 + 6j])
        try:
            made.append((eval(call, {"t": t, "x": x, "m": t.tensor([True, False, True]), "i": t.tensor([1])}).tolist(), x.tolist()))
        except RuntimeError:
            made.append("refused")
    assert made[0] == made[1]


@pytest.mark.parametrize("layout", [((2, 2), (0, 1)), ((3, 2), (1, 1)), ((2, 2), (2, 1)), ((2, 3, 2), (1, 0, 2))])
def test_elements_of_one_place_share_a_gradient(layout):
    for name in ("as_strided", "as_strided_copy"):
        slopes = []
        for t in (weir, torch):
            x = t.arange(8.0).as_strided(*layout).requires_grad_()
            out = getattr(t, name)(x, [2, 2], [2, 0])
            slopes.append(t.autograd.grad(out, x, t.arange(4.0).reshape(2, 2))[0].tolist())
        assert slopes[0] == slopes[1], name


def test_what_is_marked_is_set_to_nothing():
    for t in (weir, torch):
        x = t.ones(3, 3, dtype=t.complex64)
        y = x.conj()
        assert [x.is_set_to(x.view(3, 3)), x.is_set_to(y), y.is_set_to(y), x.is_set_to(y.imag), x.is_set_to(x.t())] == [True, False, False, False, False]


SPREAD = {
    "a number": lambda x: x.__setitem__(0, x[0, 1]), "a row": lambda x: x.__setitem__(slice(None), x[1]), "a column": lambda x: x.__setitem__(slice(None), x[:, 1:2]),
    "as many": lambda x: x.__setitem__(slice(1, None), x[:-1]),
}


@pytest.mark.parametrize("name", SPREAD)
def test_elements_assigned_over_themselves(name):
    def program(t):
        x = t.arange(9).reshape(3, 3)
        try:
            SPREAD[name](x)
        except RuntimeError:
            return "refused"
        return x.tolist()
    assert program(weir) == program(torch)
