"""framework/ops/pool_line.cpp: pools over one axis, and maxima put back, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

X = torch.randn(2, 3, 12, generator=torch.manual_seed(0))

POOLS = {
    "means": lambda t, x: t.nn.functional.avg_pool1d(x, 3), "means of lists": lambda t, x: t.nn.functional.avg_pool1d(x, [3], [2], [1]),
    "means of what is there": lambda t, x: t.nn.functional.avg_pool1d(x, 5, 4, 2, True, False), "means without a stride": lambda t, x: t.avg_pool1d(x, 2, None),
    "maxima": lambda t, x: t.nn.functional.max_pool1d(x, 3, 2, 1), "dilated maxima": lambda t, x: t.nn.functional.max_pool1d(x, 2, None, 0, 3, True),
    "maxima of tiles": lambda t, x: t.nn.functional.max_pool1d(x, 3), "overlapping maxima": lambda t, x: t.max_pool1d(x, 4, 2), "rounded up": lambda t, x: t.max_pool1d(x, 4, 4, 0, 1, True),
    "maxima apart": lambda t, x: t.max_pool1d(x, 2, 3, 0, 4), "each number": lambda t, x: t.max_pool1d(x, 1, 2), "maxima beside NaN": lambda t, x: t.max_pool1d(t.where(x > 1, x * float("nan"), x), 2),
    "maxima of halves": lambda t, x: t.max_pool1d(x.half(), 3, 2, 1), "dilated maxima beside padding": lambda t, x: t.max_pool1d(x.double(), 4, 3, 2, 3, True),
    "one by one beside padding": lambda t, x: t.max_pool1d(x, 5, 1, 2), "wider than the line": lambda t, x: t.max_pool1d(x, 20, 1, 10), "wider than the padded line": lambda t, x: t.max_pool1d(x, 50, 1, 3),
    "maxima and places": lambda t, x: t.nn.functional.max_pool1d(x, 3, return_indices=True),
    "maxima and places by name": lambda t, x: t.max_pool1d_with_indices(x, (2,), stride=[3]),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    for x in (X.clone().requires_grad_(), X[0], X.transpose(0, 1), X[:, :1].transpose(1, 2)[:, ::1].transpose(1, 2), X[:0]):
        assert_same(POOLS[name], x, what=f"{name} of {tuple(x.shape)}")


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_maxima_go_back(rank):
    x = torch.randn(2, 3, *(6,) * rank, generator=torch.manual_seed(1), requires_grad=True)

    def back(t, x, **options):
        values, places = getattr(t.nn.functional, f"max_pool{rank}d")(x, 2, return_indices=True)
        return getattr(t.nn.functional, f"max_unpool{rank}d")(values, places, 2, **options)
    for options in ({}, {"output_size": (7,) * rank}, {"output_size": (2, 3, *(5,) * rank)}, {"stride": 2, "padding": 0}):
        assert_same(lambda t, x: back(t, x, **options), x)
    assert_same(back, x[0])


SIZES = """3, 2, -1|3, 2, 4, 0|3, 2, 4, 1.0|3, 2, 4, 1, -1|3, 2, 4, 1.5|2, 2, 4, 1.5|2, 2, 4, 1.5, 0, (5, 5)|2, 2, 4, 1.0|2, 2, (2,)|2, 2, 2, (2,)|2, 2, (2, 2, 2)
2, 2, (2,), None, 0, (4,)|2, 2, 2, None, 0, (4.0, 4)|2, 2, 2, None, 0, (t.tensor(4), 4)|2, 2, 2, None, 0, 5|2, 2, 2, None, 9|2, 3, 2|2, 2, 1 << 63|2, 2, 1 << 63, 1 << 63
2, 2, 1 << 63, None, 0, (1, 2, 3, 6)|3, 3, (3, 2, 3), 2, 0, (1, 0, 3, 6, float("nan"))|3, 2, ((1 << 63) - 1, 4, 4), (1, 2, 2)|3, 2, 2, (-1 << 63, 1, 1)
3, 2, -1 << 63, None, 0, (1, 2, 1, 2, 1)|2, 2, True, True|3, 2, 2, None, 0, (3, 4, 5)|2, 2, 2, None, 0, [3, 5]""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", SIZES)
def test_what_size_maxima_go_back_to(text):
    def back(t, x):
        rank, axes, *rest = eval(f"({text})", {"t": t})
        x = t.ones((2,) * (axes + 2))
        return getattr(t.nn.functional, f"max_unpool{rank}d")(x, t.zeros_like(x).long(), *rest)
    assert_same(back, what=text)


@pytest.mark.parametrize("call, error", [
    (lambda t, x, i: t.nn.functional.max_unpool1d(x, i, 2, output_size=(99,)), ValueError), (lambda t, x, i: t.nn.functional.max_unpool1d(x, i, 2, output_size=(1, 2)), ValueError),
    (lambda t, x, i: t.nn.functional.max_unpool1d(x, i, (2, 2)), IndexError), (lambda t, x, i: t.nn.functional.max_unpool1d(x, i.int(), 2), RuntimeError),
    (lambda t, x, i: t.nn.functional.max_unpool1d(x, i[:1], 2), RuntimeError), (lambda t, x, i: t.nn.functional.max_unpool1d(x, i + 99, 2), RuntimeError),
    (lambda t, x, i: t.nn.functional.avg_pool1d(x[0, 0], 2), RuntimeError), (lambda t, x, i: t.nn.functional.avg_pool1d(x, (2, 2)), RuntimeError),
    (lambda t, x, i: t.nn.functional.max_pool1d(i, 2), RuntimeError)])
def test_refusals(call, error):
    for t in (torch, weir):
        with pytest.raises(error):
            call(t, t.ones(2, 3, 4), t.zeros(2, 3, 4, dtype=t.int64))
