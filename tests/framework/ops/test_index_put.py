"""Writing at indices against PyTorch: values, gradients, versions and refusals."""

import pytest
import torch
from twins import assert_same

X, V, I = torch.arange(12.0).reshape(3, 4).requires_grad_(), -torch.ones(2, 4).requires_grad_(), torch.tensor([0, 2])
CALLS = """index_put(x, (i,), v)|index_put(x, (i, i), t.tensor(5.0))|index_put(x, (x > 4,), t.tensor(1.0))|index_put(x, (i,), v, True)|index_put(x, [i], v, accumulate=True)
index_put(x, (i,), v.double())|index_put(x, (i,), t.ones(3))|index_put(x, (t.tensor([7]),), v[:1])|index_put(x[:0], (i,), v)
index_put(x, (i, i, i), v)|index_put(x, (i.float(),), v)|index_put(x, (), v)|index_put(x, (i,), 3)|clone(x).index_put_((i,), v)|index_put_(x, (i,), v)
clone(x).index_put((i,), v)|index_put(input=x, indices=(i,), values=v)|index_put(x, (i,), t.ones(1, 1, 2, 4))|index_put(x, i, v)|index_put(x, (i[:0],), v[:0])
t(x).index_put((i,), t.tensor(3.0))|index_put(x, (t.tensor([False, True, True]),), v)|_unsafe_masked_index(x, i > 0, [i * 9, i], 2)
_unsafe_masked_index_put_accumulate(x, i > 0, [i * 9, i], v[:, 0])""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", CALLS)
def test_as_pytorch(text):
    assert_same(lambda t, x, v, i: eval(f"t.{text}", {"t": t, "x": x, "v": v, "i": i}), X, V, I, what=text)


def test_none_leaves_an_axis_whole():
    assert_same(lambda t, x, v, i: t.ops.aten.index_put(x, (None, i), v[0, :2]), X, V, I)


def test_a_copy_counts_as_new():
    import weir
    for t in (torch, weir):
        x, i = t.zeros(3), t.tensor([0])
        assert (t.index_put(x, (i,), t.ones(1))._version, x.index_put_((i,), t.ones(1))._version) == (0, 1)


@pytest.mark.parametrize("accumulate", [False, True])
def test_gradients_where_the_indexed_axes_stand_first(accumulate):
    """What is indexed in front is written into as it is, what is not through a view."""
    x, v = torch.randn(4, 5, 3, requires_grad=True), torch.randn(2, 3, requires_grad=True)
    i, j = torch.tensor([0, 3]), torch.tensor([1, 4])
    assert_same(lambda t, x, v, i, j: t.index_put(x * 2, (i, j), v, accumulate), x, v, i, j)

    def assigned(t, x, v, i, j):
        y = x * 2
        y[i, j] = v
        y[i] = y[j - 1] + 1
        y[:, j] = v
        return y.sin(), y[1:]
    assert_same(assigned, x, v, i, j)


BYTES = "t.tensor({}, dtype=t.uint8)"


@pytest.mark.parametrize("key", ["t.tensor([1], dtype=t.int16)", "(0, t.tensor([1], dtype=t.int8))", "(slice(0, 1), t.tensor([], dtype=t.int16))", BYTES.format(2), f"({BYTES.format(0)}, 0)",
                                 f"(slice(0, 1), {BYTES.format(2)})", BYTES.format([0, 1, 1]), f"(0, {BYTES.format([1])})", BYTES.format([]), "t.tensor(True)", "(t.tensor(False), 1)", "(True, 1)"])
@pytest.mark.parametrize("value", ["9", "t.tensor(9.0)", "t.tensor([9.0])", "t.tensor(9.0).double()"])
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_items_at_bytes_and_truths(key, value):
    def write(t, x):
        x = x.clone()
        x[eval(key, {"t": t})] = eval(value, {"t": t})
        return x

    assert_same(write, X.detach(), what=key)
    assert_same(lambda t, x: x[eval(key, {"t": t})], X.detach(), what=key)
