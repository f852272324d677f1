"""Calls with sparse tensors against PyTorch: results part by part, errors by type."""

import pytest
import torch
import weir
from both import coo, hybrid, same

UNARY = """abs neg sqrt sin tanh relu sign floor ceil round trunc expm1 log1p asin atan sinh tan asinh square isnan isinf erf frac deg2rad
    positive isposinf signbit conj nan_to_num""".split()


@pytest.mark.parametrize("name", UNARY)
def test_functions_that_keep_zero(name):
    for made in (coo, lambda t: coo(t).to_sparse_csr(), hybrid):
        same(lambda t: getattr(t, name)(made(t)))


CALLS = {
    "add": lambda t, s, c, d: [s + s, c + c, s - s, t.add(c, c, alpha=2)], "d + s": lambda t, s, c, d: [d + s, d - s, t.add(d, s, alpha=3)],
    "s + d": lambda t, s, c, d: s + d, "s + 1": lambda t, s, c, d: s + 1, "csr + d": lambda t, s, c, d: c.to_sparse_csr() + d,
    "csr + csr": lambda t, s, c, d: c.to_sparse_csr() + c.to_sparse_csr(), "different places": lambda t, s, c, d: (c + (d > 3).to(d.dtype).to_sparse()).to_dense(),
    "numbers": lambda t, s, c, d: [s * 2, 2 * s, s / 2, s // 2, s * t.tensor(2.), s / t.tensor(2.), -s, abs(s), s**2, t.true_divide(s, 2)],
    "s * s": lambda t, s, c, d: [s * s, c * c, s * c], "s * d": lambda t, s, c, d: [s * d, d * s, s * t.ones(3)],
    "csr * csr": lambda t, s, c, d: [c.to_sparse_csr() * c.to_sparse_csr(), c.to_sparse_csr() * 2, c.to_sparse_csr() * d],
    "s * other": lambda t, s, c, d: c * (d > 3).to(d.dtype).to_sparse(), "s / d": lambda t, s, c, d: s / d, "2 / s": lambda t, s, c, d: 2 / s,
    "s / s": lambda t, s, c, d: s / s, "power zero": lambda t, s, c, d: s**0, "float_power": lambda t, s, c, d: s.float_power(2),
    "dtypes": lambda t, s, c, d: [c + c.double(), c * c.double(), s.long() * 2.5, s.long() / 2, d + s.double()],
    "shapes": lambda t, s, c, d: s + s.t(), "shapes *": lambda t, s, c, d: s * s.t(),
    "mm": lambda t, s, c, d: [s @ d.t(), t.mm(s, d.t()), t.sparse.mm(s, d.t()), t.spmm(s, d.t()), t.dsmm(c, d.t()), c.to_sparse_csr() @ d.t(),
                              c.to_sparse_csc() @ d.t(), s.mm(d.t()), s.matmul(d.t())],
    "mv": lambda t, s, c, d: [s @ d[0], t.mv(s, d[0]), c.to_sparse_csr() @ d[0], s.matmul(d[0])],
    "dense @ sparse": lambda t, s, c, d: [d.t() @ s, t.mm(d.t(), s), t.matmul(t.ones(4, 2, 2), s), t.ones(2, 2) @ c.to_sparse_csr(), t.ones(2, 2).mm(s)],
    "s @ s": lambda t, s, c, d: [s @ s.t(), t.sparse.mm(c, c.t()), s.t() @ s], "csr @ csr": lambda t, s, c, d: (c.to_sparse_csr() @ c.t().to_sparse_csr()).to_dense(),
    "bmm": lambda t, s, c, d: t.bmm(t.stack([s, s]), t.ones(2, 3, 2)), "wrong sizes": lambda t, s, c, d: t.sparse.mm(s, d),
    "wrong dtypes": lambda t, s, c, d: t.sparse.mm(s, d.t().double()), "wrong vector": lambda t, s, c, d: s @ t.ones(2), "int": lambda t, s, c, d: t.sparse.mm(s.long(), d.t().long()),
    "double": lambda t, s, c, d: t.sparse.mm(s.double(), d.t().double()), "complex": lambda t, s, c, d: s.to(t.complex64) @ d.t().to(t.complex64),
    "hybrid @": lambda t, s, c, d: hybrid(t) @ d.t(), "reduce": lambda t, s, c, d: [t.sparse.mm(c.to_sparse_csr(), d.t(), r) for r in ("sum", "mean", "amax", "amin")],
    "addmm": lambda t, s, c, d: [t.addmm(t.ones(2, 2), s, d.t(), beta=2, alpha=3), t.sparse.addmm(t.ones(2, 2), s, d.t(), beta=.5)],
    "linear": lambda t, s, c, d: t.nn.functional.linear(s, t.ones(5, 3), t.ones(5)), "smm": lambda t, s, c, d: [t.smm(s, d.t()), t.hspmm(s, d.t())],
    "sampled": lambda t, s, c, d: t.sparse.sampled_addmm(c.to_sparse_csr(), t.ones(2, 4), t.ones(4, 3), beta=.5, alpha=2.),
    "t": lambda t, s, c, d: [s.t(), s.T, s.transpose(0, 1), t.transpose(c, 0, 1), c.to_sparse_csr().t(), c.t().t(), hybrid(t).transpose(0, 1), s.permute(1, 0)],
    "t of dense dims": lambda t, s, c, d: hybrid(t).transpose(0, 2), "unsqueeze": lambda t, s, c, d: [s.unsqueeze(0), s.unsqueeze(-1)],
    "select": lambda t, s, c, d: [s[0], s[:, 2], s[0, 2], s.select(1, 2), hybrid(t)[0, 2], hybrid(t)[..., 1], s[-1]], "out of range": lambda t, s, c, d: s[5],
    "index_select": lambda t, s, c, d: [s.index_select(0, t.tensor([1, 0])), c.index_select(1, t.tensor([2])), hybrid(t).index_select(2, t.tensor([1, 1]))],
    "index out of range": lambda t, s, c, d: s.index_select(0, t.tensor([5])), "iterate": lambda t, s, c, d: list(s),
    "cat": lambda t, s, c, d: [t.cat([s, c], 1), t.cat([hybrid(t), hybrid(t)], 2), t.stack([s, s]), t.vstack([s, s])], "cat dense": lambda t, s, c, d: t.cat([s, d]),
    "mask": lambda t, s, c, d: [d.sparse_mask(c), s.sparse_mask(c), d.sparse_mask(s), d.sparse_mask(c.to_sparse_csr()), t.ones(2, 3, 2).sparse_mask(hybrid(t).coalesce())],
    "mask shapes": lambda t, s, c, d: d.t().sparse_mask(c),
    "sum": lambda t, s, c, d: [t.sparse.sum(s), t.sparse.sum(s, 0), t.sparse.sum(s, [0, 1]), s.sum(), s.sum(0), s.sum(1, keepdim=True), t.sparse.sum(s, -1),
                               t.sparse.sum(hybrid(t), 2), t.sparse.sum(hybrid(t), [0, 1]), t.sparse.sum(s, dtype=t.float64), t.sum(s),
                               c.to_sparse_csr().sum(), c.to_sparse_csr().sum(1, keepdim=True), t.sparse.sum(s.int())],
    "sum csr": lambda t, s, c, d: c.to_sparse_csr().sum(1), "sum out of range": lambda t, s, c, d: t.sparse.sum(s, 2), "sum twice": lambda t, s, c, d: t.sparse.sum(s, [0, 0]),
    "softmax": lambda t, s, c, d: [t.sparse.softmax(s, 1), t.sparse.softmax(c, 0), t.sparse.log_softmax(s, 1), t.sparse.softmax(hybrid(t), 2),
                                   t.sparse.softmax(hybrid(t), 1), t.sparse.softmax(s, 1, dtype=t.float64)], "softmax range": lambda t, s, c, d: t.sparse.softmax(s, 2),
    "norm": lambda t, s, c, d: [s.norm(), s.norm(1), s.any()], "norm dim": lambda t, s, c, d: s.norm(2, 0),
    "like": lambda t, s, c, d: [t.zeros_like(s), t.empty_like(s), t.zeros_like(c.to_sparse_csr()), s.new_zeros(2), t.as_tensor(s), t.tensor(1.) * s],
    "in place": lambda t, s, c, d: [s.clone().mul_(2), s.clone().add_(s), s.clone().div_(2), s.clone().zero_(), s.clone().copy_(c), s.clone().neg_()],
    "dense in place": lambda t, s, c, d: [d.clone().add_(s, alpha=2), d.clone().sub_(s), d.clone().mul_(s), t.ones(2, 3, 2).add_(hybrid(t))],
    "in place operators": lambda t, s, c, d: in_place_operators(t, s, c, d), "leaf in place": lambda t, s, c, d: s.clone().requires_grad_().mul_(2),
    "copy dense": lambda t, s, c, d: d.clone().copy_(s), "add dense in place": lambda t, s, c, d: s.clone().add_(d), "len": lambda t, s, c, d: [len(s), s.type()],
}


def in_place_operators(t, s, c, d):
    d, e, f, c = d.clone(), d.clone(), d.clone(), c.clone()
    d += s
    e -= s
    f *= s
    c *= 2
    c += c
    return [d, e, f, c]


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    def program(t):
        return CALLS[name](t, coo(t), coo(t, True), t.arange(6.).reshape(2, 3))
    same(program)


def test_which_results_are_coalesced():
    def program(t):
        s, c, one = coo(t), coo(t, True), t.tensor([0])
        results = [s * 2, c * 2, c + c, s + s, c * c, t.sparse.mm(c, c.t()), t.cat([c, c]), c.index_select(0, one), t.sparse.sum(c, 0), c.abs(), s.abs(),
                   c.clone(), c.neg(), c.double(), c[0], t.sparse.softmax(c, 1), c.to_sparse_csr().to_sparse_coo(), c - c, c.detach(), c.unsqueeze(0),
                   t.zeros_like(c), c * t.ones(2, 3), t.ones(2, 3).sparse_mask(c), t.stack([c, c]), c.to_sparse_csc().to_sparse_coo(), c.t()]
        return [r.is_coalesced() for r in results]
    same(program)


def test_random_products():
    torch.manual_seed(0)
    for rows, columns, count in ((1, 1, 1), (7, 5, 0), (30, 20, 100), (64, 64, 500)):
        dense = (torch.rand(rows, columns) < count / (rows * columns)) * torch.randn(rows, columns)
        other = torch.randn(columns, 6)
        for layout in ("sparse_coo", "sparse_csr", "sparse_csc"):
            ours = weir.tensor(dense.tolist()).reshape(rows, columns).to_sparse(layout=getattr(weir, layout)) @ weir.tensor(other.tolist())
            torch.testing.assert_close(torch.tensor(ours.tolist()).reshape(rows, 6), dense @ other)


def test_ranges_are_always_checked():
    for t_layout in (lambda: weir.sparse_coo_tensor([[0, 9]], [1., 2.], (3,)), lambda: weir.sparse_csr_tensor([0, 1], [7], [1.], (1, 2)),
                     lambda: weir.sparse_csr_tensor([0, 9, 1], [0], [1.], (2, 2))):
        with pytest.raises(RuntimeError):
            t_layout()


def test_functions_in_place_want_coalesced_tensors_and_keep_the_dtype():
    for t in (torch, weir):
        twice = t.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (2, 3))
        whole = t.sparse_coo_tensor([[0], [1]], [3], (2, 3)).coalesce()
        for call in (twice.log1p_, twice.arcsin_, twice.sqrt_, whole.log1p_, whole.arcsin_):
            with pytest.raises(RuntimeError):
                call()
        assert twice.neg_().to_dense().tolist() == [[0, -3, 0], [0, 0, 0]]
        assert t.sparse_coo_tensor([[0], [1]], [3.0], (2, 3)).coalesce().arctan_().dtype == t.float32


def kinds_in_place(t, first, second):
    x, y = (t.tensor([1, 0, 1]).to(getattr(t, name)) for name in (first, second))
    for name in ("add_", "mul_", "sub_"):
        for a, b in ((x.to_sparse(), y.to_sparse()), (x.clone(), y.to_sparse())):
            try:
                yield getattr(a, name)(b).dtype is a.dtype and a.to_dense().tolist()
            except RuntimeError:
                yield RuntimeError


@pytest.mark.parametrize("first", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("second", ["int8", "int64", "float32", "float64", "bool"])
def test_sums_and_products_in_place_keep_the_dtype(first, second):
    assert list(kinds_in_place(weir, first, second)) == list(kinds_in_place(torch, first, second))


@pytest.mark.parametrize("first, second", [("int8", "uint8"), ("float32", "uint8"), ("int64", "uint8")])
def test_differences_from_unsigned_numbers(first, second):
    for places in ([[0, 2]], [[1, 2]]):
        made = lambda t: (t.sparse_coo_tensor([[0, 2]], t.tensor([1, 2], dtype=getattr(t, first)), (3,)),  # noqa: E731
                          t.sparse_coo_tensor(places, t.tensor([3, 1], dtype=getattr(t, second)), (3,)))
        results = [[(r.dtype.itemsize, r.to_dense().tolist()) for r in (a - b, a.to_dense() - b, a.clone().sub_(b), a.to_dense().sub_(b))]
                   for a, b in (made(torch), made(weir))]
        assert results[0] == results[1]


def test_names_and_formats():
    for t in (torch, weir):
        s = t.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], (2, 3))
        assert s.permute(dims=(1, 0)).to_dense().tolist() == t.permute(s, dims=(1, 0)).to_dense().tolist() == [[0, 0], [1, 0], [0, 2]]
        for make in (t.zeros_like, t.empty_like):
            for format in (t.contiguous_format, t.preserve_format):
                with pytest.raises(RuntimeError):
                    make(s, memory_format=format)
                assert make(s, layout=t.strided, memory_format=format).layout == t.strided
