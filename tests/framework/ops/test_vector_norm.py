"""Norms of vectors, and what is built on them, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same, to_weir

INF = float("inf")
X = torch.randn(2, 3, 4, generator=torch.manual_seed(0), dtype=torch.float64)
X[0, 1] = 0
ORDERS = [0, 1, 2, 3, 0.5, 1.5, 2.5, INF, -INF, -1]


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("dim", [None, (), 1, (0, 2), (1, -2), 7])
def test_vector_norm(p, dim):
    for keepdim in (False, True):
        call = lambda t, x: t.linalg.vector_norm(x, p, dim, keepdim)  # noqa: E731
        order = 2 if p not in (0, 0.5, -1, 1.5) else 1  # below 2, second derivatives at 0 are infinities times zeros
        for x in (X.clone().requires_grad_(), X.float(), X[..., :0], X[0, 0, 0], X.long(), X.bfloat16(), X.to(torch.complex64), X.transpose(0, 2)):
            assert_same(call, x, order=order, rtol=2e-2 if x.dtype == torch.bfloat16 else 1e-4, what=f"{p} {dim} {x.dtype} {x.shape}")
    assert_same(lambda t, x: t.linalg.vector_norm(x, p, dim, dtype=t.float64), X.float())
    assert_same(lambda t, x: t.linalg.vector_norm(x, p, dim, dtype=t.float32), X)
    assert_same(lambda t, x: t.norm(x, p, dim), X.clone().requires_grad_(), order=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_norms_of_single_complex_numbers(dtype):
    """Are their sizes, whose squares may be none, with a norm's derivatives, of which the second has no value at zero."""
    parts = torch.view_as_real(torch.tensor([[3 + 4j, 0, 1e-30j]])).to(dtype)
    call = lambda t, x: t.linalg.vector_norm(t.view_as_complex(x), 2, 0)  # noqa: E731
    for x in (parts, parts.clone().requires_grad_()):
        assert_same(call, x, order=1, atol=0)
    assert_same(call, parts[:, :2].clone().requires_grad_(), order=2)


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, -1, INF, -INF])
def test_norms_of_complex32(p):
    assert_same(lambda t, x: t.linalg.vector_norm(x.to(t.complex32), p, (0, 2)), X.to(torch.complex64) + 1j, rtol=1e-2, what=f"{p}")


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_pairwise_distance(p):
    x, y = X[0].clone().requires_grad_(), X[1].clone().requires_grad_()
    for keep in (False, True):
        assert_same(lambda t, x, y: t.pairwise_distance(x, y, p, 1e-3, keep), x, y, order=1)
    assert_same(lambda t, x, y: t.nn.functional.pairwise_distance(x[:2], y), x, y)


@pytest.mark.parametrize("dim", [0, 1, -1, 5])
def test_cosine_similarity(dim):
    x, y = X[0].clone().requires_grad_(), X[1].clone().requires_grad_()
    for call in (lambda t, x, y: t.cosine_similarity(x, y, dim), lambda t, x, y: t.nn.functional.cosine_similarity(x, y[:1], dim, 10.0),
                 lambda t, x, y: t.cosine_similarity(x.detach().long(), y.detach().long(), dim), lambda t, x, y: t.cosine_similarity(x[:2], y, dim)):
        assert_same(call, x, y, order=1)


def test_cosine_similarity_of_a_norm_that_overflows():
    x = torch.full((2, 5), 30000.0, dtype=torch.float16).requires_grad_()
    assert_same(lambda t, x: t.cosine_similarity(x, t.ones(2, 5, dtype=t.float16), 1), x, order=1)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("p", [2, 3, 0, 1, -1, 0.5, INF, -INF, True])
@pytest.mark.parametrize("dim", [None, 0, [0, 1], [], 5, [0, 0]])
def test_sums_of_powers(p, dim):
    x = torch.tensor([[1.0, -2.0, 0.0], [3.0, INF, float("nan")], [0.5, -0.5, 300.0]])
    for y in (x, x.half(), x.bfloat16(), x + 1j, x.long(), x[:0], x[0, 0]):
        assert_same(lambda t, x: t.linalg._powsum(x, p, dim), y, rtol=1e-2 if y.dtype in (torch.float16, torch.bfloat16) else 1e-4, what=f"{y.dtype} {y.shape}")
    for dtype in ("float64", "complex64", "int64"):
        assert_same(lambda t, x: t.linalg._powsum(x, p, dim, True, dtype=getattr(t, dtype)), x)


def test_sums_of_powers_have_no_derivative():
    for t in (torch, weir):
        y = t.linalg._powsum(t.ones(2, requires_grad=True))
        with pytest.raises(RuntimeError, match="derivative for .*_powsum is not implemented"):
            y.backward()


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, INF, -INF, float("nan"), -2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
def test_the_norm_of_a_single_number_is_its_size(p, dtype):
    for x in (torch.tensor([3.0], dtype=dtype), torch.full((1, 5, 2), -3.0, dtype=dtype), torch.ones(5, 1, 2, dtype=dtype).transpose(0, 2)):
        for keepdim in (False, True):
            dim = x.shape.index(1)
            assert_same(lambda t, x: t.linalg.vector_norm(x, p, dim, keepdim), x, rtol=0, atol=0, what=f"{p} {dtype}")
            call = lambda t, x: t.linalg.vector_norm(x, p, dim, keepdim).stride()  # noqa: E731
            assert call(weir, to_weir(x)) == call(torch, x)


def test_a_single_number_has_the_gradient_of_a_norm():
    for values in ([[INF, 0.0]], [[float("nan"), -2.0]]):
        assert_same(lambda t, x: [t.linalg.vector_norm(x, p, 0) for p in (1, 2, 3, 0.5, INF)], torch.tensor(values, requires_grad=True), order=1)


def test_a_norm_of_one_number_by_nan_is_its_size_without_a_gradient():
    for shape, dim in (((), None), ((1,), -1), ((2, 1), -1)):
        assert_same(lambda t, x, dim=dim: t.linalg.vector_norm(x, float("nan"), dim), torch.full(shape, -3.0, dtype=torch.float64, requires_grad=True))


@pytest.mark.parametrize("p", [INF, -INF])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("where", [(1, False), (1, True), (None, False)])
def test_an_infinite_norm_of_nan_leaves_the_other_numbers_no_gradient(p, dtype, where):
    found = []
    for t in (torch, weir):
        x = t.tensor([[3, -3, float("nan")], [1, INF, -2], [1, 2, -2], [0, 0, 0]], dtype=getattr(t, dtype), requires_grad=True)
        norm = t.linalg.vector_norm(x, p, *where)
        slope, = t.autograd.grad(norm, x, t.ones_like(norm), create_graph=True)
        second, = t.autograd.grad(slope[2:].abs().sum(), x)
        found.append([str(norm.tolist()), str(slope.tolist()), second[2:].abs().sum().item()])
    assert found[0] == found[1]
