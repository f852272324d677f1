"""Decompositions: what the op database does not ask, namely second derivatives, errors, and memory.

Covers framework/ops/linalg_lu.cpp, framework/ops/linalg_cholesky.cpp, framework/ops/linalg_qr.cpp, framework/ops/linalg_spectrum.cpp,
framework/ops/linalg_exp.cpp, framework/ops/linalg_product.cpp and their kernels, framework/kernels/cpu/linalg_lu.cpp, framework/kernels/cpu/linalg_cholesky.cpp, framework/kernels/cpu/linalg_qr.cpp,
framework/kernels/cpu/linalg_spectrum.cpp, framework/kernels/cpu/linalg_exp.cpp and framework/kernels/cpu/linalg_product.cpp.
"""

import gc
import weakref

import numpy as np
import pytest
import torch
import weir
from twins import assert_close, assert_same, to_weir


def positive_definite(n, dtype=torch.float64):
    torch.manual_seed(0)
    a = torch.randn(n, n, dtype=dtype)
    return a @ a.mH + n * torch.eye(n, dtype=dtype)


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


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_agree(name, dtype):
    if name in ("var", "cross") and dtype.is_complex:
        pytest.skip("no decomposition")
    results = []
    for framework, a in ((weir, to_weir(positive_definite(3, dtype))), (torch, positive_definite(3, dtype))):
        a.requires_grad_()
        y = FUNCTIONS[name](framework, a).abs() if dtype.is_complex else FUNCTIONS[name](framework, a)
        (first,) = framework.autograd.grad((y * y * y).sum(), a, create_graph=True)
        (second,) = framework.autograd.grad((first * first.conj()).real.sum(), a)
        results.append((first.detach(), second))
    for ours, theirs in zip(*results):
        assert_close(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("call", [weir.linalg.inv, weir.linalg.cholesky, lambda a: weir.linalg.solve(a, a)])
def test_a_matrix_without_the_decomposition_raises_linalg_error(call):
    with pytest.raises(weir.linalg.LinAlgError):
        call(-weir.ones(2, 2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("n", [2, 3])
def test_small_determinants_have_their_cofactors_as_gradients(n, dtype):
    a = torch.randn(4, n, n, dtype=dtype, generator=torch.manual_seed(n))
    a[1, 0] = a[1, 1]
    parts = torch.view_as_real(a[2:]) if dtype.is_complex else a[2:]
    assert_same(lambda t, x: t.linalg.det(t.view_as_complex(x) if dtype.is_complex else x).abs(), parts.clone().requires_grad_(), rtol=1e-9)
    x = to_weir(a).requires_grad_()
    (got,) = weir.autograd.grad(weir.real(weir.linalg.det(x)).sum(), x, create_graph=True)
    without = lambda m, i, j: np.delete(np.delete(m, i, 0), j, 1)  # noqa: E731
    expected = [[[(-1) ** (i + j) * np.linalg.det(without(m, i, j)) for j in range(n)] for i in range(n)] for m in a.numpy()]
    np.testing.assert_allclose(got.detach().resolve_conj().numpy(), np.conj(expected), atol=1e-12)


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


def test_lapack_calls_of_one_batch_agree_with_calls_of_each():
    torch.manual_seed(1)
    a = to_weir(torch.randn(9, 20, 20, dtype=torch.complex128))
    whole, each = weir.linalg.eigvals(a), [weir.linalg.eigvals(x) for x in a]
    assert_close(whole, torch.stack([torch.from_numpy(x.numpy()) for x in each]))


@pytest.mark.parametrize("name", ["eig", "eigvals"])
def test_eig_of_what_is_not_finite_raises(name):
    with pytest.raises(RuntimeError, match="infs or NaNs"):
        getattr(weir.linalg, name)(weir.full((2, 2), float("nan")))


def test_eigenvectors_of_a_real_matrix_are_complex_and_solve_it():
    a = weir.tensor([[0.0, -1.0], [1.0, 0.0]])
    values, vectors = weir.linalg.eig(a)
    assert values.dtype == weir.complex64
    assert weir.allclose(a.to(weir.complex64) @ vectors, vectors * values, atol=1e-6)


def test_errors_name_the_element_of_the_batch():
    a = weir.eye(2).repeat(3, 1, 1)
    a[1] = 0
    with pytest.raises(weir.linalg.LinAlgError, match=r"linalg.inv: \(Batch element 1\): The diagonal element 1 is zero"):
        weir.linalg.inv(a)


@pytest.mark.parametrize("pivots", [[0, 1], [1, 3]])
def test_pivots_outside_of_the_matrix_raise(pivots):
    LU, wrong = weir.eye(2), weir.tensor(pivots, dtype=weir.int32)
    with pytest.raises(RuntimeError):
        weir.linalg.lu_solve(LU, wrong, weir.ones(2, 1))
    with pytest.raises(RuntimeError):
        weir.lu_unpack(LU, wrong)


@pytest.mark.parametrize("pivots", [[0, 1], [3, 1], [-5, -5], [1, -1]])
def test_ldl_pivots_that_no_factorization_gives_raise(pivots):
    with pytest.raises(RuntimeError, match="pivots must"):
        weir.linalg.ldl_solve(weir.eye(2), weir.tensor(pivots, dtype=weir.int32), weir.ones(2, 1))


@pytest.mark.parametrize("matrix", [[[0.0]], [[2.0]], [[[0.0]], [[3.0]]]])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_det_of_one_number_has_the_gradient_one(matrix, dtype):
    for create_graph in (False, True):
        gradients = []
        for t in (torch, weir):
            a = t.tensor(matrix, dtype=getattr(t, str(dtype)[6:]), requires_grad=True)
            gradients.append(t.autograd.grad(t.linalg.det(a).sum(), a, t.ones((), dtype=a.dtype), create_graph=create_graph)[0].tolist())
        assert gradients[0] == gradients[1]


@pytest.mark.filterwarnings("ignore:An output")
@pytest.mark.parametrize("name, call", {
    "triangles": lambda t, a, b: t.linalg.solve_triangular(a, b, upper=True, out=b),
    "solve": lambda t, a, b: t.linalg.solve(a, b, out=b), "inv": lambda t, a, b: t.linalg.inv(a, out=a), "cholesky": lambda t, a, b: t.linalg.cholesky(a, out=a),
    "qr": lambda t, a, b: t.linalg.qr(a, out=(t.empty(0, dtype=a.dtype), a)), "lu": lambda t, a, b: t.linalg.lu_factor(a, out=(a, t.empty(0, dtype=t.int32)))[0],
    "vecdot": lambda t, a, b: t.linalg.vecdot(a, b, out=b)}.items())
@pytest.mark.parametrize("batch", [(), (2,), (0,)])
def test_a_result_may_take_the_place_of_an_input(name, call, batch):
    a = positive_definite(3).expand(*batch, 3, 3).contiguous()
    results = [call(t, t.tensor(a.tolist(), dtype=t.float64).reshape(a.shape), t.ones(*batch, 3, 3, dtype=t.float64)) for t in (torch, weir)]
    assert_close(*reversed(results))


@pytest.mark.filterwarnings("ignore")
def test_a_determinant_does_not_take_the_place_of_its_matrix():
    for t in (torch, weir):
        a = t.eye(3)
        for call in (t.linalg.det, t.linalg.eigvalsh, t.linalg.svdvals):
            with pytest.raises(RuntimeError):
                call(a, out=a)


@pytest.mark.filterwarnings("ignore:.*chain_matmul")
@pytest.mark.parametrize("shapes", [(), ((1,), (1,)), ((2,), (2, 3)), ((2, 3), (3,)), ((2, 3, 3),)])
def test_a_chain_is_of_matrices(shapes):
    for t in (torch, weir):
        with pytest.raises(RuntimeError):
            t.chain_matmul(*[t.ones(s) for s in shapes])


@pytest.mark.parametrize("dtype, size", [("float32", 33), ("float64", 100)])
@pytest.mark.parametrize("columns", [1, 3, 4, 8, 9])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
def test_triangular_systems_of_few_columns(dtype, size, columns, upper, unitriangular):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((2, size, c)).astype(dtype) for c in (size, columns))
    a = a / 10 + 3 * np.eye(size, dtype=dtype)
    x = weir.linalg.solve_triangular(weir.from_numpy(a), weir.from_numpy(b), upper=upper, unitriangular=unitriangular).numpy()
    triangle = np.triu(a, int(unitriangular)) if upper else np.tril(a, -int(unitriangular))
    np.testing.assert_allclose((triangle + unitriangular * np.eye(size)) @ x, b, atol=1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("left", (True, False))
def test_products_of_no_reflections_have_a_history_but_no_gradients(left):
    for t in (torch, weir):
        a, tau, other = t.ones(5, 0, requires_grad=True), t.ones(0, requires_grad=True), t.ones(*((5, 3) if left else (3, 5)))
        assert t.autograd.grad(t.ormqr(a, tau, other, left).sum(), [a, tau], allow_unused=True) == (None, None)


def test_residuals_of_no_columns_are_zeros_with_the_gradient_of_what_is_left():
    for t in (torch, weir):
        b = t.ones(3, 2, requires_grad=True)
        residuals = t.linalg.lstsq(t.ones(3, 0), b, driver="gels").residuals
        assert residuals.tolist() == [0, 0] and t.autograd.grad(residuals.sum(), b)[0].tolist() == [[2, 2]] * 3


@pytest.mark.parametrize("LU, pivots", [((3, 5), [3, 3, 3, 9]), ((0, 6), []), ((0, 3, 4), [[]]), ((2, 3, 5), [2, 3, 3]), ((4, 0), [])])
def test_lu_unpack_takes_pivots_by_their_places(LU, pivots):
    """The first ones of each row: matrices without pivots keep their rows."""
    def parts(t):
        p = t.tensor(pivots, dtype=t.int32)
        return [part.tolist() for part in t.lu_unpack(t.arange(float(np.prod(LU))).reshape(LU), p.reshape(0, 2) if pivots == [[]] else p)]
    assert parts(weir) == parts(torch)


@pytest.mark.filterwarnings("ignore")
def test_triangular_solve_is_linear_in_what_it_solves_for():
    """Also where A holds infinities: its second derivative is none, and no NaN."""
    for t in (torch, weir):
        b = t.ones(2, 1).requires_grad_()
        once = t.autograd.grad(t.triangular_solve(b, t.tensor([[1.0, float("inf")], [0.0, 1.0]]))[0].sum(), b, create_graph=True)[0]
        assert not once.requires_grad
        assert t.triangular_solve(b, t.eye(2))[1].requires_grad


def test_a_reflector_whose_factor_is_half_nan_leaves_no_numbers():
    for t in (torch, weir):
        v, tau = t.tensor([[1.0 + 0j], [2 - 3j], [0.5j]]), t.tensor([complex(float("nan"), -0.5)])
        assert t.linalg.householder_product(v, tau)[1:].isnan().all()


@pytest.mark.parametrize("driver", ["GELS", "gelsY"])
def test_lstsq_takes_names_of_drivers_in_either_case(driver):
    a, b = torch.eye(3)[:, :2], torch.eye(3)
    expected = torch.linalg.lstsq(a, b, driver=driver)[0]
    assert weir.linalg.lstsq(weir.tensor(a.tolist()), weir.tensor(b.tolist()), driver=driver)[0].tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("rows", [1, 3, 8, 40])
def test_lu_of_few_rows_and_many_columns(rows, dtype):
    """The columns behind the square are solved for."""
    a = torch.randn(2, rows, 700, dtype=dtype, generator=torch.manual_seed(rows))
    singular = a[0].clone()
    singular[-1] = 0
    for x in (a, singular, a.mT.contiguous().mT, a[:, :, ::1][..., 30:], a[:0]):
        assert_same(lambda t, x: [*t.linalg.lu_factor_ex(x)], x, rtol=1e-3, atol=1e-3 if dtype != torch.float64 else 1e-9)


@pytest.mark.parametrize("driver", ["gels", "gelsd", "gelss"])
def test_residuals_of_many_equations_keep_their_digits(driver):
    a, b = torch.randn(200_000, 2), torch.randn(200_000, 1)
    truth = torch.linalg.lstsq(a.double(), b.double(), driver=driver).residuals
    got = weir.linalg.lstsq(weir.from_numpy(a.numpy()), weir.from_numpy(b.numpy()), driver=driver).residuals
    assert abs(got.item() / truth.item() - 1) < 1e-5


def _of_rank(rank, rows, cols, dtype, seed):
    g = torch.manual_seed(seed)
    return torch.randn(rows, rank, dtype=dtype, generator=g) @ torch.randn(rank, cols, dtype=dtype, generator=g)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("rows, cols, rank", [(7, 4, 4), (7, 4, 2), (7, 4, 1), (5, 5, 5), (5, 5, 3), (200, 30, 30), (200, 30, 11), (4, 7, 4), (4, 7, 2), (6, 1, 1)])
def test_lstsq_takes_the_shortest_of_the_best_answers(rows, cols, rank, dtype):
    a, b = _of_rank(rank, rows, cols, dtype, rows), torch.randn(rows, 3, dtype=dtype, generator=torch.manual_seed(1))
    tolerance = 2e-3 if dtype in (torch.float32, torch.complex64) else 1e-9
    for scale in (1.0, 1e-35 if dtype.itemsize > 8 else 1e-20):  # the second is scaled by LAPACK in float32
        assert_same(lambda t, a, b: [*t.linalg.lstsq(a, b, rcond=1e-4)[::2]], a * scale, b * scale, rtol=tolerance, atol=tolerance)
    if rank == min(rows, cols):
        assert_same(lambda t, a, b: [*t.linalg.lstsq(a, b, driver="gels")], a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("rows, cols, rank", [(300, 5, 5), (300, 5, 2), (64, 32, 32), (2000, 1, 1), (40, 30, 30)])
def test_tall_matrices_are_decomposed_as_their_triangles(rows, cols, rank, dtype):
    a, b = _of_rank(rank, rows, cols, dtype, rows), torch.randn(rows, 2, dtype=dtype, generator=torch.manual_seed(2))
    tolerance = 2e-3 if dtype in (torch.float32, torch.complex64) else 1e-9
    for x in (a, a * (1e-35 if dtype.itemsize > 8 else 1e-20), a.mT.contiguous().mT, a.expand(2, rows, cols)):
        def parts(t, x):
            u, s, vh = t.linalg.svd(x, full_matrices=False)
            return [s, (u * s.unsqueeze(-2)) @ vh, u.mH @ u, t.linalg.svdvals(x), t.linalg.matrix_rank(x, rtol=1e-4)]
        assert_same(parts, x, rtol=tolerance, atol=tolerance, strides=False)
    for driver in ("gelsd", "gelss"):
        assert_same(lambda t, a, b: [*t.linalg.lstsq(a, b, rcond=1e-4, driver=driver)], a, b, rtol=tolerance, atol=tolerance)
    assert_same(lambda t, a: t.linalg.pinv(a, rtol=1e-4), a, rtol=tolerance, atol=tolerance)
    weir_a = weir.from_numpy(a.numpy())
    weir_a[rows // 2, 0] = float("inf")
    assert weir.linalg.svdvals(weir_a).isnan().all()


@pytest.mark.parametrize("driver", ["gels", "gelsy"])
def test_lstsq_of_what_cannot_be_solved_plainly(driver):
    g = torch.manual_seed(3)
    a, b = torch.randn(2, 6, 3, generator=g), torch.randn(2, 6, 2, generator=g)
    for x, y in ((a, b * 0), (a * 1e-33, b), (a * 1e33, b), (a, b * 1e33)):
        assert_same(lambda t, x, y: [t.linalg.lstsq(x, y, driver=driver)[0]], x, y, rtol=1e-3, atol=1e-3)
    right = weir.full((6, 2), float("nan"))  # which PyTorch's LAPACK refuses
    assert weir.linalg.lstsq(weir.tensor(a[0].tolist()), right, driver=driver)[0].isnan().all()
    for bad in (float("nan"), float("inf")):
        with pytest.raises(weir.linalg.LinAlgError, match="non-finite"):
            weir.linalg.lstsq(weir.full((3, 2), bad), weir.ones(3, 1), driver=driver)
    if driver == "gels":
        with pytest.raises(weir.linalg.LinAlgError, match="full rank .error code: 3"):
            weir.linalg.lstsq(weir.tensor([[1., 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]), weir.ones(4, 1), driver=driver)
    else:
        zero = weir.linalg.lstsq(weir.zeros(4, 2), weir.ones(4, 1), driver=driver)
        assert zero.rank == 0 and zero.solution.tolist() == [[0.0], [0.0]]
