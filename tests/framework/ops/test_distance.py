"""Distances between rows against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

A = torch.randn(2, 7, 5, generator=torch.manual_seed(0), requires_grad=True)
B = torch.randn(2, 40, 5, generator=torch.manual_seed(1), requires_grad=True)
NORMS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf"), -1.0, 2]


@pytest.mark.parametrize("p", NORMS)
def test_cdist(p):
    for a, b in ((A, B), (A.detach(), B), (A[0].detach(), B), (A.detach().double().requires_grad_(), B.detach().double()), (A[:, :0].detach(), B),
                 (A[..., :0].detach(), B[..., :0].detach()), (A[0].detach(), A[0].detach().requires_grad_()), (A.detach().long(), B.detach().long()),
                 (A.detach(), B.detach().double()), (A.detach().half(), B.detach().half()), (A[..., :3].detach(), B), (A[0, 0].detach(), B)):
        assert_same(lambda t, a, b: t.cdist(a, b, p), a, b, order=1, rtol=1e-2, what=f"{p} {a.shape} {b.shape}")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n, r", [(30, 4), (4, 30), (33, 50), (1100, 3)])
def test_gradient_of_many_euclidean_distances(n, r, dtype):
    """Those of more than 25 rows are a product of matrices, in PyTorch too; also of rows that are the same, and of distances read turned."""
    for batch in ((), (3,)):
        x, y = (torch.randn(*batch, k, 5, generator=torch.manual_seed(k), dtype=dtype) for k in (n, r))
        x[..., 2, :] = y[..., 1, :]
        for turn in (lambda a: a, lambda a: a.mT.contiguous().mT):
            call = lambda t, x, y: t.cdist(turn(x), turn(y), compute_mode="donot_use_mm_for_euclid_dist")  # noqa: B023, E731
            assert_same(call, x.requires_grad_(), y.requires_grad_(), order=1, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("p", NORMS)
def test_pdist(p):
    for x in (A[0] * 3, torch.randn(37, 3, generator=torch.manual_seed(2)), A[0, :1], A[0, :0], A[0, :, :0], A[0].double(), A[0].long(), A):
        x = x.detach()
        # Of nothing, PyTorch's gradient reads beyond its memory.
        x = x.requires_grad_() if x.is_floating_point() and x.numel() > 5 else x
        assert_same(lambda t, x: t.nn.functional.pdist(x, p), x, order=1)


def test_second_derivative_of_euclidean_distances():
    assert_same(lambda t, a, b: t.cdist(a, b), A, B, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist", "other"])
def test_compute_mode(mode):
    assert_same(lambda t, a, b: t.cdist(a, b, compute_mode=mode), A, B, order=0)


def test_rows_that_are_nearly_the_same_have_all_digits_without_a_product():
    weir.manual_seed(0)
    x, y, g = 1 + 1e-3 * weir.randn(64, 8), 1 + 1e-3 * weir.randn(60, 8), weir.randn(64, 60)

    def gradient(x, y, g):
        x = x.detach().requires_grad_()
        weir.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").backward(g)
        return x.grad.double()
    right = gradient(x.double(), y.double(), g.double())
    assert (gradient(x, y, g) - right).abs().max() < 1e-5 * right.abs().max()


@pytest.mark.parametrize("shape, dtype", [((0,), "float32"), ((5,), "float32"), ((2, 3), "float64"), ((2, 3), "int64")])
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_normalize_divides_into_out(shape, dtype):
    def run(t):
        out = t.empty(shape, dtype=getattr(t, dtype))
        try:
            assert t.nn.functional.normalize(t.arange(6.0).view(2, 3), out=out) is out
        except RuntimeError:
            return "refused"
        return out.double().numpy().round(6).tolist()
    assert run(weir) == run(torch)


@pytest.mark.parametrize("p", [1e39, 1e308, 3e38, 1e-50, 1e300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_power_is_a_number_of_the_dtype(dtype, p):
    rows = torch.tensor([[1.0, 2.0], [3.0, 5.0], [8.0, -7.0]], dtype=dtype)
    assert_same(lambda t, x: t.nn.functional.pdist(x, p), rows, what=f"{p}")
    assert_same(lambda t, x: t.cdist(x, x * 0.1, p), rows, what=f"{p}")
    for x in (rows, rows.half()):
        assert_same(lambda t, x: t.norm(x, p, 1), x, what=f"{p}")
        assert_same(lambda t, x: t.nn.functional.normalize(x, p), x, what=f"{p}")
