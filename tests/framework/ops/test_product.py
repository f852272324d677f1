"""Products beyond matmul against PyTorch's."""

import pytest
import torch
import weir
from twins import CPU, assert_same

V, W, U = torch.randn(3), torch.randn(3), torch.randn(5)
A, B, T = torch.randn(3, 4), torch.randn(4, 5), torch.randn(2, 3, 4)
INTS = torch.arange(12).reshape(3, 4)

CALLS = {
    "trace": (lambda t, a: t.trace(a), A), "trace of a vector": (lambda t, a: t.trace(a), V),
    "outer": (lambda t, a, b: t.outer(a, b), V, U), "ger": (lambda t, a, b: t.ger(a, b), V, U), "outer of a matrix": (lambda t, a, b: t.outer(a, b), A, U),
    "dot": (lambda t, a, b: t.dot(a, b), V, W), "dot of other sizes": (lambda t, a, b: t.dot(a, b), V, U),
    "dot of other dtypes": (lambda t, a, b: t.dot(a, b.double()), V, W), "dot of integers": (lambda t, a: t.dot(a[0], a[1]), INTS),
    "vdot": (lambda t, a, b: t.vdot(t.complex(a, b), t.complex(b, a)), V, W),
    "mv": (lambda t, a, b: t.mv(a, b), A, torch.randn(4)), "mv of other sizes": (lambda t, a, b: t.mv(a, b), A, V),
    "inner": (lambda t, a, b: t.inner(a, b), A, T), "inner of vectors": (lambda t, a, b: t.inner(a, b), V, W),
    "inner with a number": (lambda t, a, b: t.inner(a, b[0]), A, V), "inner of other sizes": (lambda t, a, b: t.inner(a, b), A, U),
    "addmv": (lambda t, x, a, b: t.addmv(x, a, b, beta=0.5, alpha=2), V, A, torch.randn(4)),
    "addmv without input": (lambda t, x, a, b: t.addmv(x * float("nan"), a, b, beta=0), V, A, torch.randn(4)),
    "addmv_": (lambda t, x, a, b: (x * 1).addmv_(a, b), V, A, torch.randn(4)),
    "addbmm": (lambda t, x, a, b: t.addbmm(x, a, b, beta=0.5, alpha=2), torch.randn(3), torch.randn(2, 4, 5), torch.randn(2, 5, 3)),
    "addbmm of matrices": (lambda t, x, a: t.addbmm(x, a, a), A, A), "addbmm of other dtypes": (lambda t, x, a: t.addbmm(x.double(), a, a.mT), A @ A.mT, T),
    "addbmm_ grows": (lambda t, x, a, b: (x * 1).addbmm_(a, b), torch.randn(1, 3), torch.randn(2, 4, 5), torch.randn(2, 5, 3)),
    "addr": (lambda t, x, a, b: t.addr(x, a, b, beta=2, alpha=0.5), torch.randn(3, 5), V, U),
    "addr of integers": (lambda t, x: t.addr(x, x[:, 0], x[0], beta=2, alpha=3), INTS), "addr of floats for integers": (lambda t, x: t.addr(x, x[:, 0], x[0], beta=0.5), INTS),
    "addr of a truth for beta": (lambda t, x: t.addr(x, x[:, 0], x[0], beta=True), INTS), "addr of a truth for alpha": (lambda t, x, a, b: t.addr(x, a, b, alpha=False), torch.randn(3, 5), V, U),
    "addr of truths": (lambda t, x: t.addr(x > 2, x[:, 0] > 3, x[0] > 1, beta=True, alpha=False), INTS),
    "addr_": (lambda t, x, a, b: (x * 1).addr_(a, b), torch.randn(3, 5), V, U),
    "kron": (lambda t, a, b: t.kron(a, b), A, T), "kron of numbers": (lambda t, a, b: t.kron(a[0], b), V, A),
    "tensordot": (lambda t, a, b: t.tensordot(a, b, 1), A, B), "tensordot of lists": (lambda t, a, b: t.tensordot(a, b, ([0, 1], [1, 2])), A, T),
    "tensordot with an axis of 1": (lambda t, a, b: t.tensordot(a, b[:1], ([0], [0])), A, T),
    "tensordot twice": (lambda t, a, b: t.tensordot(a, b, ([0, 0], [1, 2])), A, T), "tensordot too far": (lambda t, a, b: t.tensordot(a, b, 3), A, B),
    "tensordot of nothing": (lambda t, a, b: t.tensordot(a, b, 0), V, U), "tensordot of all": (lambda t, a: t.tensordot(a, a, 2), A),
    "cross": (lambda t, a, b: t.cross(a, b), torch.randn(2, 3), torch.randn(2, 3)), "cross without three": (lambda t, a: t.cross(a, a), B),
    "vander": (lambda t, x: t.vander(x), V), "vander rising": (lambda t, x: t.vander(x, N=5, increasing=True), V),
    "vander of one": (lambda t, x: t.vander(x, N=1), V), "vander of none": (lambda t, x: t.vander(x, N=0), V), "vander of a matrix": (lambda t, x: t.vander(x), A),
    "linalg.vander": (lambda t, x: t.linalg.vander(x, N=4), A), "linalg.vander of one": (lambda t, x: t.linalg.vander(x, N=1), A),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_pytorch(name):
    call, *inputs = CALLS[name]
    assert_same(call, *(x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs), order=1)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name, shapes", [("addmm", [(8, 8), (8, 8), (8, 8)]), ("baddbmm", [(2, 8, 8)] * 3), ("addmv", [(8,), (8, 8), (8,)])])
def test_sums_of_halves_are_rounded_once(name, shapes, dtype):
    torch.manual_seed(3)
    given = [torch.randn(s).to(getattr(torch, dtype)) for s in shapes]
    halves = [weir.tensor(x.float().numpy()).to(getattr(weir, dtype)) for x in given]
    exact = getattr(torch, name)(*[x.double() for x in given], beta=8.2, alpha=-22.9)
    ours = torch.from_numpy(getattr(weir, name)(*halves, beta=8.2, alpha=-22.9).float().numpy()).double()
    step = exact.abs().log2().floor().exp2() * torch.finfo(getattr(torch, dtype)).eps
    assert ((ours - exact).abs() <= step * 0.51).all()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.float16])
def test_an_axis_of_one_that_meets_another_size_keeps_its_dtype(dtype):
    a, b = torch.ones(1, 1, 1, dtype=dtype), torch.ones(2, 1, 2, dtype=dtype)
    assert_same(lambda t, a, b: [t.tensordot(a, b, 2), t.tensordot(b, a, dims=([0, 1], [1, 0]))], a, b)


@pytest.mark.parametrize("beta", [-1e39, 1e5, 2.5, 1 << 40, 0, 0.0, -2, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32, torch.bool])
@pytest.mark.parametrize("n, m", [(3, 0), (0, 2), (0, 0), (3, 2)])
def test_factors_of_what_nothing_is_added_to(n, m, dtype, beta):
    """Where nothing is multiplied, PyTorch multiplies by beta as by a number, which may lie beyond the dtype."""
    x, a, b = torch.ones(n, 2, dtype=dtype), torch.ones(n, m, dtype=dtype), torch.ones(m, 2, dtype=dtype)
    assert_same(lambda t, x, a, b: t.addmm(x, a, b, beta=beta), x, a, b)
    assert_same(lambda t, x, a, b: t.baddbmm(x[None], a[None], b[None], beta=beta), x, a, b)
    assert_same(lambda t, x, a, b: t.addbmm(x, a[None], b[None], beta=beta), x, a, b)
    assert_same(lambda t, x, a, b: t.addbmm(x, a[None][:0], b[None][:0], beta=beta), x, a, b)
    assert_same(lambda t, x, a, b: t.addmv(x[:, 0], a, b[:, 0], beta=beta), x, a, b)
    assert_same(lambda t, x, a, b: t.addbmm(x, a[None][:0], b[None][:0], beta=2, alpha=1e39 if dtype.is_floating_point else 3), x, a, b)


@pytest.mark.parametrize("left, right", [((0, 0), (5, 0, 0)), ((2, 0), (5, 0, 3)), ((0,), (5, 0, 3))])
@pytest.mark.parametrize("grad", [True, False])
def test_dtypes_of_products_of_nothing(left, right, grad):
    assert_same(lambda t: t.matmul(t.ones(left, dtype=t.complex64, requires_grad=grad), t.ones(right, dtype=t.float16)).detach())


NARROW = torch.zeros(2, 0, 3, dtype=torch.int8)
UNMULTIPLIED = {
    "sums of no products": lambda t, x, b: t.baddbmm(x, x[:, :, :0], b), "another first factor": lambda t, x, b: t.baddbmm(b[:, :, :2].mT, b[:, :0, :0], x[:, :0]),
    "a batch of none": lambda t, x, b: t.addbmm(x[0], x[:0], b[:0, :, :2].mT.expand(0, 3, 4)), "an alpha for none": lambda t, x, b: t.addbmm(x[0], x[:, :, :0], x[:, :0], alpha=float("nan")),
    "batches of one and two": lambda t, x, b: t.addbmm(x[0], x[:1, :, :2], x), "no columns": lambda t, x, b: t.baddbmm(x[:, :, :0], x[:, :, :2], x[:, :, :0], beta=float("nan"), alpha=1e30),
    "no rows": lambda t, x, b: t.addmm(x[0, :0], x[0, :0, :2], x[0], beta=float("nan")), "a vector of none": lambda t, x, b: t.addmv(x[0, :, 0], x[0, :, :0], x[0, 0, :0], alpha=2 ** 40),
    "a first number": lambda t, x, b: t.baddbmm(x, x[0, 0, 0], x), "a first vector": lambda t, x, b: t.baddbmm(x, x[0, 0], x),
}


@pytest.mark.parametrize("name", UNMULTIPLIED)
def test_factors_and_dtypes_of_nothing_to_multiply(name):
    assert_same(UNMULTIPLIED[name], torch.arange(12, dtype=torch.int32).reshape(2, 2, 3), NARROW)


# PyTorch's library scales a factor or the sums, by its own lists of shapes, on its maker's CPUs.
scales_factors = pytest.mark.skipif("GenuineIntel" in CPU, reason="an Intel CPU")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("alpha", [pytest.param(float("inf"), marks=scales_factors), pytest.param(-float("inf"), marks=scales_factors), 1e39, 2])
def test_addbmm_scales_each_product_of_the_batch(alpha, dtype):
    x, a = torch.ones(2, 2, dtype=dtype), torch.tensor([[[1.0, 2], [3, 4]], [[-1, 2], [-3, 5]]], dtype=dtype)
    assert_same(lambda t, x, a, b: t.addbmm(x, a, b, alpha=alpha), x, a, torch.eye(2, dtype=dtype).expand(2, 2, 2))


@scales_factors
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.bfloat16])
@pytest.mark.parametrize("n", [2, 9])
def test_an_infinite_factor_of_products_meets_their_terms(n, dtype):
    """Of halves, of vectors and, below 400 terms, of batches it meets the sums."""
    x, a = torch.ones(n, n, dtype=dtype), (torch.arange(1.0, n + 1) * torch.tensor([-1.0, 1]).repeat(n)[:n]).expand(n, n).to(dtype)
    for alpha in (float("inf"), -float("inf")):
        assert_same(lambda t, x, a, b: (t.addmm(x, a, b, alpha=alpha), t.addmm(x, a, b, beta=0, alpha=alpha)), x, a, a.abs().to(dtype))  # noqa: B023
        assert_same(lambda t, x, a, b: (t.baddbmm(x, a[None], b[None], alpha=alpha), t.addmv(x[0], a, b[0], alpha=alpha)), x, a, a.abs().to(dtype))  # noqa: B023


@pytest.mark.parametrize("name, args", [("mm", 2), ("addmm", 3), ("bmm", 2), ("baddbmm", 3)])
def test_a_dtype_for_sums_has_no_kernel_on_a_cpu(name, args):
    x = weir.ones(2, 2) if name.endswith("dmm") or name == "mm" else weir.ones(1, 2, 2)
    with pytest.raises(NotImplementedError, match=f"{name} with out_dtype has kernels for CUDA alone"):
        getattr(weir, name)(*[x] * args, weir.float32)
    if args == 3:
        with pytest.raises(OverflowError):
            getattr(weir, name)(*[x] * args, weir.float32, alpha=2**70)


def test_kron_gives_an_out_of_another_shape_rows():
    x = torch.arange(8.0).reshape(2, 2, 2)
    assert_same(lambda t, x: t.kron(x.permute(2, 0, 1), t.tensor(2.0), out=t.empty(0)), x)
    assert_same(lambda t, x: t.kron(x.permute(2, 0, 1), t.tensor(2.0), out=t.empty(2, 2, 2).mT), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64])
def test_addr_of_any_layout(dtype):
    a, x, y = (torch.randn(size, generator=torch.manual_seed(0)).mul(4).to(dtype) for size in ((3, 4), (3,), (4,)))
    assert_same(lambda t, a, x, y: [t.addr(a, x, y), t.addr(a.T, y, x), t.addr(a[0], x, y), t.addr(a[:, :1], x, y), t.addr(a, x, y, beta=0), t.addr(a.clone().T, y, x, alpha=2),
                                    t.addr(a[:1].expand(3, 4), x, y), a.clone().addr_(x, y), t.addr(a, x, y, out=t.empty(4, 3, dtype=a.dtype).T)], a, x, y)
