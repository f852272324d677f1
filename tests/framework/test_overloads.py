"""Calls at the edges of what an op takes: overloads of one name, empty axes, infinities. PyTorch gives the answers."""

import math

import pytest
import torch
import weir
from twins import assert_close, to_weir

A = torch.arange(6.0).reshape(2, 3)
EDGE = torch.tensor([-3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0, math.inf, -math.inf])
POLYNOMIALS = [name for name in dir(torch.special) if "polynomial" in name]

CALLS = {
    "where": lambda t, a: t.where(a > 2),
    "scatter add": lambda t, a: t.scatter(a, 0, a.long() * 0, a, reduce="add"),
    "scatter a number": lambda t, a: a.scatter(0, a.long() * 0, 2.0, reduce="multiply"),
    "scatter_": lambda t, a: a.clone().scatter_(0, a.long() * 0, a, reduce="multiply"),
    "vander N=1": lambda t, a: t.vander(a[0], 1),
    "vander N=0": lambda t, a: t.vander(a[0], 0),
    "adjoint": lambda t, a: t.adjoint(a[0, 0]),
    "empty trapezoid": lambda t, a: t.trapezoid(a[:, :0]),
    "empty cumulative_trapezoid": lambda t, a: t.cumulative_trapezoid(a[:, :0]),
    "trapezoid of wider x": lambda t, a: t.trapezoid(a[0, :2], a[:, :2]),
    "infinite trapezoid": lambda t, a: t.trapezoid(a * math.inf, dx=2),
    "take_along_dim": lambda t, a: t.take_along_dim(a, a.long() - 1, 0),
    "median of nothing": lambda t, a: t.median(a[:0]),
    "nanmean dtype": lambda t, a: t.nanmean(a, dtype=t.bfloat16),
    "matrix_power": lambda t, a: t.matrix_power(a.long()[:, :2], 3),
    "unique_consecutive by position": lambda t, a: t.unique_consecutive(a, True),
    "unique_consecutive method": lambda t, a: a.unique_consecutive(True),
    "to bool": lambda t, a: a.to(True),
    "to int": lambda t, a: a.to(0, False),
    "view_copy": lambda t, a: t.view_copy(a.t(), (6,)),
    "svd without vectors": lambda t, a: tuple(t.svd(a, compute_uv=False)),
    "randn of nothing": lambda t, a: t.randn(0, dtype=t.int64),
    "soft margin": lambda t, a: t.nn.functional.soft_margin_loss(a, a > 2),
    "normal of nothing": lambda t, a: t.normal(0.5, t.ones(0, dtype=t.int64)),
    "bernoulli": lambda t, a: t.bernoulli(a, 1.0),
    "bernoulli of no complex numbers": lambda t, a: (t.bernoulli(t.complex(a, a)[:0], 0.5), t.complex(a, a)[:0].bernoulli_(0.5)),
    "ndtr out": lambda t, a: t.special.ndtr(a, out=t.empty(0)),
    "j0": lambda t, a: t.special.spherical_bessel_j0(a * math.inf),
    "singular solve_triangular": lambda t, a: t.linalg.solve_triangular(a[:, :2] * 0, t.ones(2, 1), upper=True),
    "info of inv_ex": lambda t, a: t.linalg.inv_ex(t.ones(3, 2, 2))[1],
    "info of cholesky_ex": lambda t, a: t.linalg.cholesky_ex(t.stack([-t.eye(2), t.eye(2)])).info,
    "cond of one singular matrix": lambda t, a: t.linalg.cond(t.stack([t.zeros(2, 2), t.eye(2)]), "fro"),
    "cdist of nan": lambda t, a: t.cdist(a * math.nan, a, 0.0),
    "gradient by zero": lambda t, a: t.gradient(a, spacing=0, dim=-1),
    "gradient of infinities": lambda t, a: t.gradient(t.cat([a[0], a[0] * math.inf, a[1]])),
    "second-order gradient": lambda t, a: t.gradient(a[1] ** 3, edge_order=2, spacing=2.0),
    "index_fill of nothing": lambda t, a: t.index_fill(a[:, :0], 0, t.tensor([5]), 1),
    "slogdet of nan": lambda t, a: tuple(t.linalg.slogdet(a[:, :2] * math.nan)),
    "clip": lambda t, a: t.clip(a, min=t.tensor(1.0)),
    "grid_sample of no images": lambda t, a: t.nn.functional.grid_sample(a.reshape(1, 1, 2, 3)[:0], t.zeros(0, 2, 2, 2),
                                                                         align_corners=False),
    "vector_norm out": lambda t, a: t.linalg.vector_norm(a, 3, out=t.empty(0)),
    "no difference": lambda t, a: t.diff(a, 0, 0, a[:1], a),
    "as_strided_": lambda t, a: a.clone().as_strided_((3, 2), (1, 3)),
    "statistics that evaluation does not take": lambda t, a: tuple(t.native_batch_norm(
        a, *[t.ones(3)] * 4, False, 0.1, 1e-5, out=(t.empty(3, 2).t(), t.empty(0, dtype=t.int64), t.empty(0)))),
    "sort of nothing": lambda t, a: tuple(t.sort(a[:, :0], stable=True, out=(t.empty(0), t.empty(0, dtype=t.int64)))),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_overload_agrees(name):
    expected, actual = CALLS[name](torch, A), CALLS[name](weir, to_weir(A))
    assert_close(actual, expected, what=name)


@pytest.mark.parametrize("n", [-2, -1, 0, 1, 2, 5, 7, 10, 1.9, math.nan, 40, 200])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_agree_at_ends_and_large_degrees(name, n):
    assert_close(getattr(weir.special, name)(to_weir(EDGE), n), getattr(torch.special, name)(EDGE, n), 1e-3, 1e-3)


def test_polynomials_have_no_gradient():
    y = weir.special.chebyshev_polynomial_t(weir.ones(2, requires_grad=True), 2, out=weir.empty(2))
    assert not y.requires_grad


@pytest.mark.parametrize("call", [weir.linalg.svd, weir.linalg.svdvals, weir.linalg.pinv, weir.linalg.cond, weir.linalg.eigvalsh])
def test_nan_raises_instead_of_hanging(call):
    with pytest.raises(weir.linalg.LinAlgError):
        call(weir.full((3, 3), math.nan))


def test_singular_values_of_a_matrix_with_infinities_are_nan():
    matrices = weir.stack([weir.eye(2), weir.full((2, 2), math.inf)])
    values = weir.linalg.svdvals(matrices)
    assert values[0].tolist() == [1, 1] and weir.isnan(values[1]).all()


@pytest.mark.parametrize("call", [lambda x: weir.scatter(x, 0, weir.zeros(2, dtype=weir.int64), 2.0, reduce="add"),
                                  lambda x: weir.bernoulli(x, 0.5), weir.detach_copy,
                                  lambda x: weir.heaviside(x, x, out=weir.empty(2))])
def test_backward_of_what_has_no_derivative_raises(call):
    y = call(weir.ones(2, requires_grad=True))
    assert y.requires_grad
    with pytest.raises(RuntimeError):
        y.sum().backward()


def test_frexp_lays_an_empty_out_as_the_other_one():
    for t in (torch, weir):
        mantissa, exponent = t.empty(0), t.empty(4, 3, dtype=t.int32).t()
        t.frexp(t.ones(3, 4), out=(mantissa, exponent))
        assert mantissa.stride() == exponent.stride() == (1, 3)
        assert (mantissa == 0.5).all() and (exponent == 1).all()


@pytest.mark.parametrize("call", [lambda t: t.linalg.lu_solve(t.eye(2).long(), t.tensor([1, 2], dtype=t.int32), t.eye(2)),
                                  lambda t: t.linalg.vector_norm(t.ones(2), dtype=t.float16),
                                  lambda t: t.linalg.matrix_norm(t.ones(2, 2).half(), dtype=t.bfloat16),
                                  lambda t: t.linalg.matrix_norm(t.ones(2, 2), dtype=t.int64)])
def test_linear_algebra_refuses_integers_and_narrower_norms(call):
    for t in (torch, weir):
        with pytest.raises(RuntimeError):
            call(t)


def test_equal_medians_share_the_gradient():
    x = weir.tensor([1.0, 2.0, 2.0, 2.0, 5.0], requires_grad=True)
    weir.median(x).backward()
    assert_close(x.grad, torch.tensor([0.0, 1 / 3, 1 / 3, 1 / 3, 0.0]))


def test_a_0d_bound_of_clamp_gets_its_gradient():
    low = weir.tensor(1.0, requires_grad=True)
    weir.clamp(weir.tensor([0.0, 2.0]), min=low).sum().backward()
    assert low.grad.item() == 1


def test_conversions_return_the_tensor_itself_or_a_copy_as_asked():
    a = weir.ones(2, 3)
    assert a.to(a) is a and a.contiguous(memory_format=weir.preserve_format) is a and a.sum_to_size(2, 3) is a
    assert a.to(a, True, True) is not a and a.to("cpu", weir.float32, True, True) is not a


@pytest.mark.parametrize("call, error", [
    (lambda a: weir.linalg.pinv(a, atol=weir.ones(2, 3, 4)) @ weir.ones(9), RuntimeError),
    (lambda a: weir.lu_unpack(a[0], a[0].int()), RuntimeError),
    (lambda a: weir.linalg.lu_solve(a[:, :2], a[0].long(), a), RuntimeError),
    (lambda a: weir.index_copy(a, 0, weir.tensor([0]), a[:1, :2]), RuntimeError),
    (lambda a: weir.block_diag([a]), TypeError), (lambda a: weir.cdist(a, a, compute_mode="x"), ValueError),
    (lambda a: weir.kthvalue(a[:, :0], 1), IndexError), (lambda a: weir.linalg.svdvals(a[:0].long()), RuntimeError),
    (lambda a: a.to(weir.int64, 3), TypeError), (lambda a: a.to(3), RuntimeError), (lambda a: weir.adjoint(a[0]), RuntimeError),
    (lambda a: weir.nanmedian(a[:0], 0), IndexError), (lambda a: weir.vander(a[0], -1), RuntimeError),
    (lambda a: weir.take_along_dim(a, weir.tensor([9])), RuntimeError), (lambda a: weir.randn(2, dtype=weir.int64), RuntimeError),
    (lambda a: weir.bernoulli(a, 2.0), RuntimeError), (lambda a: weir.scatter(a, 0, a.long(), a, reduce="mul"), RuntimeError)])
def test_a_wrong_call_raises(call, error):
    with pytest.raises(error):
        call(weir.ones(2, 3))
