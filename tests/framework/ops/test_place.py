"""Reading and writing at flat indices, of slices and by masks against PyTorch's. Kernels: framework/kernels/cpu/place.cpp."""

import pytest
import torch
import weir
from twins import assert_same

V, A, T = torch.randn(3), torch.randn(3, 4), torch.randn(2, 3, 4)
I, M = torch.tensor([0, -1, 5, 2]), torch.tensor([[1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]], dtype=torch.bool)

CALLS = {
    "take": (lambda t, a, i: t.take(a, i.reshape(2, 2)), A, I), "take outside": (lambda t, a, i: t.take(a, i + 12), A, I), "take of nothing": (lambda t, a, i: t.take(a[:0], i), A, I),
    "take by int32": (lambda t, a, i: t.take(a, i.int()), A, I), "take by every other": (lambda t, a, i: [t.take(a, i[::2]), t.take(a, i[:1].expand(5)), a.put(i[::2], a[0, :4:2])], A, I), "take turned": (lambda t, a, i: t.take(a.t(), i), A, I),
    "put": (lambda t, a, i, b: a.put(i, b), A, I, torch.randn(4)), "put twice": (lambda t, a, i, b: a.put(i * 0, b, accumulate=True), A, I, torch.randn(4)),
    "put outside": (lambda t, a, i, b: a.put(i - 20, b), A, I, torch.randn(4)), "put of too few": (lambda t, a, i, b: a.put(i, b), A, I, torch.randn(3)),
    "put_": (lambda t, a, i, b: (a * 1).put_(i, b, True), A, I, torch.randn(4)), "put_ of other dtypes": (lambda t, a, i, b: a.put(i, b.double()), A, I, torch.randn(4)),
    "take_along_dim": (lambda t, a, i: t.take_along_dim(a, i[:3].reshape(3, 1), 1), A, I), "take_along_dim of all": (lambda t, a, i: t.take_along_dim(a, i), A, I.abs()),
    "take_along_dim of other ranks": (lambda t, a, i: t.take_along_dim(a, i, 0), A, I),
    "index_fill": (lambda t, a, i: t.index_fill(a, 1, i[:2], 7.5), A, I), "index_fill with a tensor": (lambda t, a, i, b: t.index_fill(a, 0, i.abs()[:2], b[0]), A, I, V),
    "index_fill outside": (lambda t, a, i: t.index_fill(a, 1, i, 1), A, I), "index_fill_": (lambda t, a, i: (a * 1).index_fill_(-1, i[:1], float("nan")), T, I),
    "index_fill of a number": (lambda t, a, i: t.index_fill(a[0], 0, i[:1], 2), V, I), "index_fill with a vector": (lambda t, a, i: t.index_fill(a, 0, i[:2], a[0]), A, I),
    "index_copy": (lambda t, a, i, b: t.index_copy(a, 1, i[::3], b), A, I, torch.randn(3, 2)), "index_copy of a misfit": (lambda t, a, i, b: t.index_copy(a, 1, i[:2], b), A, I, torch.randn(2, 2)),
    "index_copy_": (lambda t, a, i, b: (a * 1).index_copy_(0, i[::3], b), A, I, torch.randn(2, 4)), "index_copy of another dtype": (lambda t, a, i, b: t.index_copy(a, 0, i[:2], b.double()), A, I, torch.randn(2, 4)),
    "index_copy from behind": (lambda t, a, i, b: t.index_copy(a, 1, i[:2], b), A, I, torch.randn(3, 2)),
    "index_copy into nothing": (lambda t, a, i, b: t.index_copy(a[:, :0], 0, i[:2], b[:, :0]), A, I, torch.randn(2, 4)),
    "masked_scatter": (lambda t, a, m, b: t.masked_scatter(a, m, b), A, M, torch.randn(7)), "masked_scatter of too few": (lambda t, a, m, b: t.masked_scatter(a, m, b), A, M, V),
    "masked_scatter over axes": (lambda t, a, m, b: t.masked_scatter(a, m, b), T, M, torch.randn(20)), "masked_scatter_": (lambda t, a, m, b: (a * 1).masked_scatter_(m[0], b), A, M, torch.randn(9)),
    "masked_scatter of none": (lambda t, a, m, b: t.masked_scatter(a, m & False, b[:0]), A, M, V), "masked_scatter by integers": (lambda t, a, m, b: t.masked_scatter(a, m.long(), b), A, M, torch.randn(7)),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(call, *(x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs), order=1)


@pytest.mark.parametrize("index", [[1, 2], [1, 7], [1, -2]])
@pytest.mark.parametrize("dim", [None, 0])
def test_take_along_dim_by_int32_only_of_flat_tensors(index, dim):
    assert_same(lambda t, x, i: t.take_along_dim(x, i, dim), torch.arange(5.0), torch.tensor(index, dtype=torch.int32))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bool, torch.complex64])
@pytest.mark.parametrize("count", [3, 200])
def test_places_of_what_is_not_dense(dtype, count):
    """A few are read and written where they lie."""
    index = torch.randint(-60, 60, (count,), generator=torch.manual_seed(0)).unique()

    def everything(t, x, i):
        found, values = [], x.reshape(-1)[:1].expand(i.shape) if x.dtype == t.bool else x.reshape(-1)[: i.numel()]
        for y in (x.transpose(0, 2), x.transpose(0, 1), x.clone().permute(1, 2, 0), x[0, 0, :1].expand(5, 4, 3)):
            found += [t.take(y, i), t.put(y, i, values)]
            if not t.is_complex(y):
                found += [y.put(t.cat([i, i]), t.cat([values, values]), accumulate=True)]
        z = x.clone().permute(2, 0, 1)
        return found + [z.put_(i, values), z.put_(i, values, accumulate=True)]
    x = torch.randn(3, 4, 5, generator=torch.manual_seed(1)).to(dtype)
    assert_same(everything, x.requires_grad_() if x.is_floating_point() else x, index, order=2, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("at", [60, -61])
def test_nothing_is_put_where_a_place_lies_outside(at):
    x = weir.arange(60).reshape(5, 12).t()
    for call in (lambda: x.put_(weir.tensor([3, at]), weir.tensor([-1, -1])), lambda: weir.take(x, weir.tensor([3, at]))):
        with pytest.raises(IndexError, match=f"tried to access index {at} on a tensor of 60 elements"):
            call()
    assert x.min() == 0 and x._version == 0


def test_what_is_put_counts_as_written_once():
    x = weir.zeros(4, 5).t()
    assert x.put_(weir.tensor([1]), weir.ones(1)) is x and x._version == 1 and x[0, 1] == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.bool, torch.int16, torch.complex64, torch.complex128])
@pytest.mark.parametrize("spare", [0, 5, -1])
def test_masked_scatter_of_any_layout(dtype, spare):
    g = torch.manual_seed(0)
    x, mask = torch.randn(4, 6, 5, generator=g).to(dtype), torch.rand(4, 6, 5, generator=g) > 0.5
    source = torch.randn(int(mask.sum()) + spare, generator=g).to(dtype)

    def everything(t, x, mask, source):
        y = x.clone()
        return [t.masked_scatter(x, mask, source), t.masked_scatter(x.mT, mask.mT, source), t.masked_scatter(x[..., ::2], mask[..., ::2], source),
                t.masked_scatter(x[:1, :, :1].expand(4, 6, 5), mask, source), y.masked_scatter_(mask, source), y, t.masked_scatter(x, mask[0, 0], x)]
    assert_same(everything, x, mask, source)
