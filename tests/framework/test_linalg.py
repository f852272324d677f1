"""Decompositions: what the op database does not ask, namely second derivatives, errors and memory."""

import gc
import weakref

import pytest
import torch
import weir
from twins import assert_close, to_weir


def positive_definite(n):
    torch.manual_seed(0)
    a = torch.randn(n, n, dtype=torch.float64)
    return a @ a.T + n * torch.eye(n, dtype=torch.float64)


FUNCTIONS = {
    "inv": lambda t, a: t.linalg.inv(a),
    "solve": lambda t, a: t.linalg.solve(a, a[:, :2] * 2 + 1),
    "cholesky": lambda t, a: t.linalg.cholesky(a),
    "slogdet": lambda t, a: t.linalg.slogdet(a)[1],
    "eigvalsh": lambda t, a: t.linalg.eigvalsh(a),
    "eigh": lambda t, a: t.linalg.eigh(a)[1].abs(),
    "svdvals": lambda t, a: t.linalg.svdvals(a[:, :2]),
    "svd": lambda t, a: t.linalg.svd(a[:, :2], full_matrices=False)[0].abs(),
    "qr": lambda t, a: t.linalg.qr(a)[0],
    "wide qr": lambda t, a: t.linalg.qr(a[:2])[1],
    "lu": lambda t, a: t.linalg.lu(a.flip(0))[2],
    "tall lu": lambda t, a: t.linalg.lu(a[:, :2])[1],
    "wide lu": lambda t, a: t.linalg.lu(a[:2])[2],
    "cross": lambda t, a: t.linalg.cross(a, a.flip(0)),
    "matrix_exp": lambda t, a: t.linalg.matrix_exp(a / 9),
    "var": lambda t, a: t.var(a, 0),
    "lu_solve": lambda t, a: t.linalg.lu_solve(*t.linalg.lu_factor(a), a[:, :2] * 2 + 1),
    "householder": lambda t, a: t.linalg.householder_product(a / 9, a[0] / 9),
    "pinv": lambda t, a: t.linalg.pinv(a[:2]),
    "vector_norm": lambda t, a: t.linalg.vector_norm(a, 0.5, 0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_agree(name):
    results = []
    for framework, a in ((weir, to_weir(positive_definite(3))), (torch, positive_definite(3))):
        a.requires_grad_()
        y = FUNCTIONS[name](framework, a)
        (first,) = framework.autograd.grad((y * y * y).sum(), a, create_graph=True)
        (second,) = framework.autograd.grad((first * first).sum(), a)
        results.append((first.detach(), second))
    for ours, theirs in zip(*results):
        assert_close(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("call", [weir.linalg.inv, weir.linalg.cholesky, lambda a: weir.linalg.solve(a, a)])
def test_a_matrix_without_the_decomposition_raises_linalg_error(call):
    with pytest.raises(weir.linalg.LinAlgError):
        call(-weir.ones(2, 2))


def test_det_of_a_singular_matrix_is_zero():
    assert weir.linalg.det(weir.ones(3, 3)).item() == 0


def test_a_decompositions_graph_is_freed():
    class Marked(weir.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark = mark
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    class Mark:
        pass

    mark = Mark()
    seen = weakref.ref(mark)
    x = weir.eye(2, requires_grad=True)
    y = weir.linalg.vector_norm(weir.linalg.inv(Marked.apply(x)), 2)
    mark = None
    del y
    gc.collect()
    assert seen() is None
