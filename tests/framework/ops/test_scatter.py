"""Gathers, scatters and scattered reductions against PyTorch, in place too."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

X = torch.randn(4, 3, generator=torch.manual_seed(0), requires_grad=True)
SRC = torch.randn(4, 3, generator=torch.manual_seed(1), requires_grad=True)
INDEX = torch.tensor([[0, 1, 2], [2, 0, 0], [1, 1, 1]])
LINE = torch.tensor([2, 0, 2, 1])
INF = float("inf")
REDUCE = ["sum", "prod", "mean", "amax", "amin", "max", "min", "most"]
DTYPES = [torch.int64, torch.uint8, torch.bool, torch.float64, torch.bfloat16, torch.complex64]


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dim", [0, -1, 3])
def test_scatter_reduce(reduce, include_self, dim):
    call = lambda t, x, i, s: t.scatter_reduce(x, dim, i, s, reduce, include_self=include_self)  # noqa: E731
    # Where index is smaller than src, PyTorch has no gradient of src.
    assert_same(call, X, INDEX, SRC.detach())
    assert_same(call, X, INDEX.repeat(2, 1)[:4], SRC, order=1)
    assert_same(lambda t, x, i, s: x.scatter_reduce_(dim, i, s, reduce, include_self=include_self), X.detach(), INDEX, SRC.detach())
    for dtype in DTYPES:
        x, s = (((v.detach() * 4).to(dtype)) for v in (X, SRC))
        assert_same(call, x, INDEX, s, what=str(dtype), rtol=1e-2)
    assert_same(call, X.detach()[0, 0], torch.tensor([0, 0]), SRC.detach()[0, :2])
    assert_same(call, X, INDEX[:0], SRC)


@pytest.mark.parametrize("reduce", REDUCE)
@pytest.mark.parametrize("include_self", [True, False])
def test_index_reduce(reduce, include_self):
    for dim, index in ((0, LINE), (1, LINE[1:]), (0, LINE[:2]), (0, LINE + 3), (0, LINE - 1), (5, LINE)):
        for x, s in ((X, SRC), ((X.detach() * 5).long(), (SRC.detach() * 5).long())):
            assert_same(lambda t, x, i, s: t.index_reduce(x, dim, i, s, reduce, include_self=include_self), x, index, s, order=1)
        assert_same(lambda t, x, i, s: x.index_reduce_(dim, i, s, reduce, include_self=include_self), X.detach(), index, SRC.detach())


def test_complex_means_are_quotients_by_complex_counts():
    src = torch.randn(40, dtype=torch.complex64, generator=torch.manual_seed(0))
    assert_same(lambda t, s, i: t.zeros(3, dtype=t.complex64).scatter_reduce(0, i, s, "mean", include_self=False), src, torch.arange(40) % 3, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_means_of_halves_at_an_index_are_rounded_at_each_sum(dtype):
    x, s = (torch.randn(n, 5, generator=torch.manual_seed(n)).to(dtype) for n in (4, 20))
    index = torch.arange(20) % 3
    for include_self in (True, False):
        assert_same(lambda t, x, i, s: t.index_reduce(x, 0, i, s, "mean", include_self=include_self), x, index, s, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, *DTYPES])
def test_in_place(dtype):
    x, s = (((v.detach() * 4).to(dtype)) for v in (X, SRC))
    for call in (lambda t, x, i, s: x.scatter_(0, i, s), lambda t, x, i, s: x.scatter_(1, i, 2), lambda t, x, i, s: x.scatter_add_(0, i, s),
                 lambda t, x, i, s: x.scatter_add_(0, i, x), lambda t, x, i, s: x.T.scatter_add_(1, i.T, s.T),
                 lambda t, x, i, s: x[::2].scatter_add_(1, i[:2], s), lambda t, x, i, s: x.scatter_add_(0, i[:0], s),
                 lambda t, x, i, s: t.gather(x, 0, i), lambda t, x, i, s: t.gather(x.T, 1, i.T), lambda t, x, i, s: t.gather(x, 1, i, out=x[:3])):
        assert_same(lambda t, x, i, s: (call(t, x, i, s), x), x, INDEX, s, rtol=1e-2, what=str(dtype))
    assert_same(lambda t, x, i, s: t.scatter_add(x, 0, i, s, out=t.zeros(4, 3, dtype=t.float64)), x, INDEX, s)


def test_an_index_out_of_range_leaves_all_as_it_was():
    x, i = weir.zeros(4, 3), weir.tensor([[0, 1, 2], [0, 9, 0]])
    for call in (lambda: x.scatter_(0, i, weir.ones(4, 3)), lambda: x.scatter_add_(0, i, weir.ones(4, 3)), lambda: x.scatter_(0, i, 5.0),
                 lambda: x.scatter_reduce_(0, i, weir.ones(4, 3), "sum")):
        with pytest.raises(RuntimeError, match="out of bounds"):
            call()
        assert x.sum().item() == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("elements", [1, 5, 20_000])
@pytest.mark.parametrize("dim", [0, 1])
def test_halves_are_summed_in_single_precision(dtype, elements, dim):
    x, index, src = torch.ones(2, elements, dtype=dtype), torch.zeros(2, min(elements, 1000), dtype=torch.int64), torch.full((2, 1000), 0.3, dtype=dtype)
    if dim == 0:
        x, index, src = x.t(), torch.zeros(1000, 2, dtype=torch.int64), torch.full((1000, 2), 0.3, dtype=dtype)
    for call in (lambda t, x, i, s: t.scatter_add(x, dim, i, s), lambda t, x, i, s: t.scatter(x, dim, i, 0.3, reduce="add"),
                 lambda t, x, i, s: t.scatter_reduce(x, dim, i, s, "sum"), lambda t, x, i, s: t.scatter_reduce(x, dim, i, s, "mean", include_self=False)):
        assert_same(call, x, index, src, rtol=0, atol=0, what=f"{dtype} {elements} {dim}")


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape, dim", [((1, 3), 0), ((3, 1), 1), ((2, 1, 3), 1), ((1,), 0)])
@pytest.mark.parametrize("index", [torch.int64, torch.int32])
def test_index_add_sums_halves_as_scatter_along_the_outer_axes_only(dtype, shape, dim, index):
    src = torch.ones([1000 if d == dim else n for d, n in enumerate(shape)], dtype=dtype)
    for alpha in (1, 2):
        assert_same(lambda t, x, i, s: t.index_add(x, dim, i, s, alpha=alpha), torch.zeros(shape, dtype=dtype), torch.zeros(1000, dtype=index), src, rtol=0, atol=0)


def test_an_infinite_part_leaves_the_other_one_alone():
    x, i, s = torch.ones(2, dtype=torch.complex64), torch.tensor([0, 1]), torch.tensor([complex(INF, 1), complex(0, INF)])
    for call in (lambda t, x, i, s: t.scatter_add(x, 0, i, s), lambda t, x, i, s: t.scatter(x, 0, i, INF, reduce="add"), lambda t, x, i, s: t.index_add(x, 0, i, s),
                 lambda t, x, i, s: t.index_put(x, [i], s, accumulate=True)):
        assert_same(call, x, i, s)


def test_gather_with_an_index_outside_writes_into_nothing_that_is_seen():
    x, index = weir.arange(6.0).view(2, 3), weir.tensor([[0, 2, 1], [0, 3, 0]])
    out = weir.zeros(2, 3)
    for call in (lambda: x.gather(1, index), lambda: weir.gather(x, 1, index, out=out), lambda: x.gather(1, -index), lambda: weir.empty(2, 0).gather(1, index * 0)):
        with pytest.raises(RuntimeError, match="out of bounds"):
            call()
    assert out.tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.float64, torch.bfloat16, torch.complex128])
def test_gather_of_rows_longer_than_a_vector(dtype):
    x, index = torch.arange(120).view(3, 40).to(dtype), torch.randint(0, 40, (3, 21))
    assert_same(lambda f, x, i: f.gather(x, 1, i), x, index, order=0)
    assert_same(lambda f, x, i: f.gather(x, 1, i), x, index[:2, :17].clone(), order=0)
    for at in (2, 20):  # within a vector, behind the last
        for value in (40, -1, 2**62):
            wrong = index.clone()
            wrong[1, at] = value
            with pytest.raises(RuntimeError, match="out of bounds"):
                to_weir(x).gather(1, to_weir(wrong))


@pytest.mark.parametrize("how", ["sum", "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_that_share_an_index(how, turned):
    """Numbers of a graph's edges, reduced at its nodes: the index of an edge is expanded along its numbers."""
    torch.manual_seed(0)
    index = torch.randint(0, 5, (40,))[:, None].expand(-1, 6)
    source = torch.randn(6, 40, dtype=torch.float64).t() if turned else torch.randn(40, 6, dtype=torch.float64)
    for include in (True, False):
        assert_same(lambda f, x, i, s: f.scatter_reduce(x, 0, i, s, how, include_self=include), torch.randn(5, 6, dtype=torch.float64), index,
                    source.requires_grad_(), order=1)
    assert_same(lambda f, x, i: f.gather(x, 0, i), torch.randn(5, 6, dtype=torch.float64), index, order=1)
    assert_same(lambda f, x, i: f.gather(x, 0, i), torch.randn(5, 6), torch.full((1, 1), 5).expand(3, 6), order=0)


def test_rows_are_put_into_memory_of_any_strides():
    torch.manual_seed(0)
    at, values = torch.randint(0, 6, (9,)), torch.randn(9, 3, 2)
    for x in (torch.randn(6, 3, 2), torch.randn(2, 3, 6).permute(2, 1, 0), torch.randn(6, 3, 4)[..., ::2]):
        assert_same(lambda f, x, i, v: x.clone().index_put((i,), v, accumulate=True), x, at, values, order=0)
        assert_same(lambda f, x, i, v: x.index_put_((i[:1],), v[:1]), x, at, values, order=0)


@pytest.mark.parametrize("value", [2.0, torch.ones(2, 2)])
def test_scatter_looks_at_dim_before_the_name_of_a_reduction(value):
    index = weir.zeros(1, 1, dtype=weir.int64)
    with pytest.raises(IndexError, match="out of range"):
        weir.scatter(weir.ones(2, 2), 4, index, to_weir(value) if isinstance(value, torch.Tensor) else value, reduce="ADD")
    with pytest.raises(RuntimeError, match="reduce argument"):
        weir.scatter(weir.ones(2, 2), 0, index, to_weir(value) if isinstance(value, torch.Tensor) else value, reduce="ADD")


WRITES = {
    "scatter_": lambda x, i, s: x.scatter_(0, i, s),
    "scatter_add_": lambda x, i, s: x.scatter_add_(0, i, s),
    "scatter_reduce_": lambda x, i, s: x.scatter_reduce_(0, i, s, "amax"),
    "index_add_": lambda x, i, s: x.index_add_(0, i, s),
    "index_copy_": lambda x, i, s: x.index_copy_(0, i, s),
    "index_reduce_": lambda x, i, s: x.index_reduce_(0, i, s, "prod"),
    "index_put_": lambda x, i, s: x.index_put_((i,), s),
    "put_": lambda x, i, s: x.put_(i, s),
    "item assignment": lambda x, i, s: x.__setitem__(i, s),
    "index_fill_": lambda x, i, s: x.index_fill_(0, i, s[0]),
}
READS = {
    "other memory": lambda x: (x.new_tensor([1, 0]), x[2:].clone()),
    "part of it": lambda x: (x.new_tensor([1, 0]), x[2:]),
    "its beginning": lambda x: (x.new_tensor([1, 0]), x[:2]),
    "all of it": lambda x: (x.new_tensor([1, 0, 3, 2]), x),
    "as indices": lambda x: (x[:2], x[2:].clone()),
    "repeated": lambda x: (x.new_tensor([1, 0]), x[:1].expand(2)),  # nobody looks closer at memory with holes
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("write", WRITES)
def test_what_is_read_lies_apart_from_what_is_written(write, read):
    """As in PyTorch, also where the call is recorded in a plan, which has no memory to look at."""
    def outcome(t, run=lambda f: f()):
        x = t.tensor([1, 0, 3, 2])
        index, source = READS[read](x)
        try:
            run(lambda: WRITES[write](x, index, source))
        except RuntimeError as error:
            return "refused" if "single memory location" in str(error) else str(error)
        return x.tolist()

    expected = outcome(torch)
    assert outcome(weir) == expected
    assert outcome(weir, lambda f: weir.compile(f)()) == expected


@pytest.mark.parametrize("write", ["scatter_", "scatter_add_", "scatter_reduce_", "index_add_", "index_reduce_"])
def test_one_empty_tensor_is_not_apart_from_itself(write):
    for call in (WRITES[write], lambda *a: weir.compile(WRITES[write])(*a)):
        with pytest.raises(RuntimeError, match="single memory location"):
            x = weir.tensor([])
            call(x, weir.tensor([], dtype=weir.int64), x)
