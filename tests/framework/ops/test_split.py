"""Splitting against PyTorch: parts, their places in memory, and refusals in its order."""

import pytest
import torch
import weir
from twins import assert_same

X, AT = torch.arange(24.0).reshape(2, 3, 4).requires_grad_(), torch.tensor([1, 2])
CALLS = """tensor_split(x, 2)|tensor_split(x, 3, -1)|tensor_split(x, 5, 1)|tensor_split(x, (1, 2), 2)|tensor_split(x, [3, -1, 9], 2)|tensor_split(x, (), 1)
tensor_split(x, at, 1)|tensor_split(x, at[0], 1)|tensor_split(x, sections=2)|tensor_split(x, indices=(1,))|hsplit(x, 3)|hsplit(x, (1,))|vsplit(x, 2)|vsplit(x, [1])
unsafe_split(x, 2, 1)|unsafe_chunk(x, 3, dim=-1)|unsafe_split_with_sizes(x, [1, 2], 1)|x.unsafe_split(1)|x.unsafe_chunk(2)|x.unsafe_split_with_sizes((1, 1))
dsplit(x, 2)|dsplit(x, (1, 3))|hsplit(x[0, 0], 2)|x.tensor_split(2)|x.hsplit(3)|tensor_split(x[:0], 3)""".replace("\n", "|").split("|")
REFUSED = """tensor_split(x, 0)|tensor_split(x, -1)|tensor_split(x, 2, 5)|tensor_split(x[0, 0, 0], 2)|tensor_split(x, x, -4)|tensor_split(x, at.int(), 1)
tensor_split(x, at.reshape(1, 2))|tensor_split(x, 2.5)|tensor_split(x, indices_or_sections=2)|hsplit(x, 2)|hsplit(x, 0)|vsplit(x[0, 0], 1)|dsplit(x[0], 1)
hsplit(x[0, 0, 0], 1)|tensor_split(3, 1)|unsafe_split(x, [1, 1])|unsafe_split(x, -1)|unsafe_chunk(x, 0)|unsafe_split_with_sizes(x, [1])""".replace("\n", "|").split("|")


def call(text):
    return lambda t, x, at: eval(text if text.startswith("x.") else f"t.{text}", {"t": t, "x": x, "at": at})


@pytest.mark.parametrize("text", CALLS + REFUSED)
def test_as_pytorch(text):
    assert_same(call(text), X, AT, what=text)


@pytest.mark.parametrize("call", [
    lambda t, x, n: t.split(x, n), lambda t, x, n: x.split(tuple(n)), lambda t, x, n: x.split_with_sizes(n), lambda t, x, n: t.tensor_split(x, list(range(1, 90))),
    lambda t, x, n: x.hsplit(list(range(1, 90))), lambda t, x, n: x[:, None].vsplit(list(range(1, 90))), lambda t, x, n: x[None, None].dsplit(list(range(1, 90))),
    lambda t, x, n: t.zeros(0, 2).chunk(100)])
def test_into_more_parts_than_a_tensor_has_axes(call):
    ours, theirs = (call(t, t.arange(300.0), [3] * 100) for t in (weir, torch))
    assert [p.tolist() for p in ours] == [p.tolist() for p in theirs]


def test_more_parts_than_memory_holds_are_refused_before_any_is_made():
    for split in (lambda x: weir.hsplit(x, 2**31), lambda x: weir.tensor_split(x, 2**31 - 1, 1)):
        with pytest.raises(RuntimeError, match="more than memory holds"):
            split(weir.ones(4, 0))


@pytest.mark.parametrize("split", [lambda t, x: t.unsafe_split(x, 2), lambda t, x: t.unsafe_chunk(x, 2), lambda t, x: t.unsafe_split_with_sizes(x, [2, 2])])
def test_unsafe_parts_count_their_writes_on_their_own(split):
    """They share memory, and are no views to autograd."""
    found = []
    for t in (weir, torch):
        x = t.arange(12.0).reshape(4, 3)
        a, b = split(t, x)
        a.mul_(2)
        row = a[0]
        row.add_(1)
        versions = [y._version for y in (x, a, b, row, a.detach())]
        found.append([versions, x.tolist(), a._base is None, b._base is None, row._base is a])
    assert found[0] == found[1]


def test_gradients_of_unsafe_parts():
    def grads(t):
        x = t.arange(12.0).reshape(4, 3).requires_grad_()
        a, b = t.unsafe_split(x.tanh(), 2)
        return t.autograd.grad((a.mul_(3) * b).sum(), x)[0].tolist()
    assert sum(grads(weir), []) == pytest.approx(sum(grads(torch), []))


def test_a_part_that_was_saved_and_then_written_to_is_found():
    for t in (weir, torch):
        a, b = t.unsafe_split(t.ones(4, requires_grad=True) * 2, 2)
        y = (a * a).sum() + (b * b).sum()
        b.detach().add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()
