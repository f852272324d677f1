"""framework/ops/linalg_norm.cpp: orders that are numbers or words, tolerances that are numbers or tensors, against PyTorch."""

import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir

CALLS = {
    **{f"matrix_norm {p}": lambda t, a, p=p: t.linalg.matrix_norm(a, p, (0, -1), True) for p in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"))},
    **{f"norm {p}": lambda t, a, p=p: t.linalg.norm(a[0], p) for p in (None, "fro", "nuc", 1, 2, float("inf"))},
    **{f"old norm {p}": lambda t, a, p=p: a.norm(p, (-2, -1)) for p in (None, "fro", "nuc", 1, 3.5)},
    "norm of a vector": lambda t, a: t.linalg.norm(a, 3, 1), "norm of all": lambda t, a: t.linalg.norm(a),
    **{f"cond {p}": lambda t, a, p=p: t.linalg.cond(a[..., :3], p) for p in (None, 2, -2, "nuc")},
    **{f"cond {p}": lambda t, a, p=p: t.linalg.cond(a[..., :3].detach(), p) for p in ("fro", 1, -float("inf"))},  # whose gradients PyTorch refuses
    "cond of rows": lambda t, a: t.linalg.cond(a), "cond of nothing": lambda t, a: t.linalg.cond(a[:0]),
    "rank": lambda t, a: t.linalg.matrix_rank(a), "rank by a number": lambda t, a: t.linalg.matrix_rank(a, 1.0),
    "rank by tensors": lambda t, a: t.linalg.matrix_rank(a, atol=t.tensor([0.1, 5.0]), rtol=t.tensor(0.2)),
    "rank by a tensor": lambda t, a: t.linalg.matrix_rank(a, t.tensor([0.5, 3.0])),
    "hermitian rank": lambda t, a: t.linalg.matrix_rank(a[..., :3] + a[..., :3].mT, hermitian=True, atol=1.0),
    **{f"norm_except_dim {d}": lambda t, a, d=d: t.norm_except_dim(a, 2, d) for d in (-1, 0, 1, 2)}, "norm_except_dim of ones": lambda t, a: t.norm_except_dim(a, 1, 1),
    "frobenius_norm": lambda t, a: t.frobenius_norm(a, (0, -1), True), "frobenius_norm of all": lambda t, a: t.frobenius_norm(a, []),
    "nuclear_norm": lambda t, a: t.nuclear_norm(a[0], True), "nuclear_norm of axes": lambda t, a: t.nuclear_norm(a, (0, 2)),
    "pinv": lambda t, a: t.linalg.pinv(a), "pinv by a number": lambda t, a: t.linalg.pinv(a, 0.5), "pinv by numbers": lambda t, a: t.linalg.pinv(a, atol=1.0, rtol=0.1),
    "pinv by a tensor": lambda t, a: t.linalg.pinv(a, t.tensor([0.1, 0.9])), "pinv of nothing": lambda t, a: t.linalg.pinv(a[:, :0]),
    "pinv by tensors of a batch": lambda t, a: t.linalg.pinv(a[0], atol=t.tensor([0.1, 0.9])), "pinverse": lambda t, a: t.pinverse(a[0], rcond=0.4),
    **{f"power {n}": lambda t, a, n=n: t.linalg.matrix_power(a[..., :3], n) for n in (-3, -1, 0, 1, 2, 3, 6, 7)},
}


def matrices():
    torch.manual_seed(0)
    return torch.randn(2, 3, 4, dtype=torch.float64)


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    results = []
    for t, a in ((weir, to_weir(matrices())), (torch, matrices())):
        y = CALLS[name](t, a.requires_grad_())
        results.append([y.detach(), t.autograd.grad((y * y).sum(), a)[0]] if y.requires_grad else [y])
    assert len(results[0]) == len(results[1])
    for ours, theirs in zip(*results):
        assert_close(ours, theirs)


@pytest.mark.parametrize("name", CALLS)
def test_as_a_plan(name):
    a = to_weir(matrices())
    with weir._trace.tracing() as trace:
        graph = trace.finish([CALLS[name](weir, *trace.arguments([a]))])
    (got,) = weir._C._Plan(graph).run([a])
    assert weir.equal(got.nan_to_num(), CALLS[name](weir, a).nan_to_num())


@pytest.mark.parametrize("call", [lambda t, a: t.linalg.matrix_norm(a, "max"), lambda t, a: t.linalg.matrix_norm(a, 3), lambda t, a: t.linalg.matrix_norm(a, 1, (0, 0)),
                                  lambda t, a: t.norm(a, "x"), lambda t, a: t.linalg.norm(a[0, 0], "fro"), lambda t, a: t.linalg.cond(a, 1),
                                  lambda t, a: t.linalg.pinv(a, atol=t.ones((), dtype=a.dtype, requires_grad=True)), lambda t, a: t.linalg.matrix_power(a, 2)])
def test_refusals(call):
    for t, a in ((weir, to_weir(matrices())), (torch, matrices())):
        with pytest.raises(RuntimeError):
            call(t, a)


def test_low_rank():
    a = to_weir(matrices())
    U, S, V = weir.svd_lowrank(a, 2, M=a * 0.5)
    assert_close(S, torch.linalg.svdvals(matrices() / 2)[..., :2])
    assert U.shape == (2, 3, 2) and V.shape == (2, 4, 2)
    U, S, V = weir.pca_lowrank(a, 3)
    assert_close(U * S.unsqueeze(-2) @ V.mT, matrices() - matrices().mean(-2, True))
    with pytest.raises(ValueError, match="non-negative"):
        weir.pca_lowrank(a, 5)


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), 0.0])
def test_a_bound_that_is_no_number_leaves_no_value(bound):
    for name in ("rtol", "atol"):
        assert weir.linalg.pinv(weir.eye(2), **{name: bound}).tolist() == torch.linalg.pinv(torch.eye(2), **{name: bound}).tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex128])
@pytest.mark.parametrize("shape", [(40, 1), (1, 7), (5, 3), (4, 4)])
def test_one_pseudo_inverse_with_several_tolerances(shape, dtype):
    a = torch.randn(*shape, dtype=dtype, generator=torch.manual_seed(0))
    limits = torch.tensor([[0.0], [0.3], [100.0]])
    assert_same(lambda t, a, b: t.linalg.pinv(a, atol=b, rtol=b * 0), a, limits)
    assert_same(lambda t, a, b: t.linalg.pinv(a.expand(3, 1, *shape), atol=b), a, limits)
    if shape[0] == shape[1]:
        assert_same(lambda t, a, b: t.linalg.pinv(a + a.mH, atol=b, hermitian=True), a, limits)
