"""Decompositions of matrices of at most 16 rows, and QR of at most 128, which do without LAPACK, by what they must give.

Source: framework/kernels/cpu/small_matrix.h, framework/kernels/cpu/reflectors.h.
"""

import numpy as np
import pytest
import weir

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}
SHAPES = [(1, 1), (2, 2), (7, 7), (16, 16), (17, 17), (5, 3), (3, 5), (16, 1), (1, 16)]
# What a matrix is multiplied by: the last ones leave the range in which squares are safe.
SCALES = {"float32": [1, 1e-20, 1e20, 1e-32, 1e32], "float64": [1, 1e-20, 1e20, 1e-200, 1e200]}


def batch(dtype, rows, cols):
    return np.random.default_rng((rows, cols)).standard_normal((6, rows, cols)).astype(dtype)


def close(got, expected, dtype, scale=1.0):
    np.testing.assert_allclose(got.numpy() / scale, expected / scale, rtol=0, atol=TOLERANCE[dtype] * np.abs(expected / scale).max())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", SHAPES + [(64, 20), (20, 64), (33, 127), (128, 128), (128, 1), (1, 40)])
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_qr(shape, dtype, mode):
    x = batch(dtype, *shape)
    x[1, :, 0] = 0  # a column that has no direction
    for scale in SCALES[dtype]:
        q, r = weir.linalg.qr(weir.from_numpy(x * x.dtype.type(scale)), mode=mode)
        expected = np.linalg.qr(x.astype(float), mode="reduced" if mode == "r" else mode)
        close(r, expected[1] * scale, dtype, scale)
        assert (np.tril(r.numpy(), -1) == 0).all()
        if mode != "r":
            close(q @ r, x.astype(float) * scale, dtype, scale)
            close(q.mT @ q, np.broadcast_to(np.eye(q.shape[-1]), (6, q.shape[-1], q.shape[-1])), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("n", [1, 2, 5, 16, 17])
@pytest.mark.parametrize("UPLO", "LU")
def test_eigh(n, dtype, UPLO):
    x = batch(dtype, n, n)
    x = x + x.swapaxes(1, 2)
    x[0] = np.eye(n)
    for scale in SCALES[dtype]:
        given = x * x.dtype.type(scale)
        triangle = weir.from_numpy(np.tril(given) if UPLO == "L" else np.triu(given))
        values, vectors = weir.linalg.eigh(triangle, UPLO)
        expected = np.linalg.eigvalsh(x.astype(float)) * scale
        close(values, expected, dtype, scale)
        close(weir.linalg.eigvalsh(triangle, UPLO), expected, dtype, scale)
        close(vectors / scale * values.unsqueeze(-2) @ vectors.mT, x.astype(float), dtype)


@pytest.mark.parametrize("dtype", [*TOLERANCE, "complex128"])
@pytest.mark.parametrize("n, columns", [(1, 1), (4, 7), (16, 16), (16, 3), (3, 17), (17, 2)])
def test_solve_and_inv(n, columns, dtype):
    a, b = batch(dtype, n, n) + 4 * np.eye(n, dtype=dtype)[::-1], batch(dtype, n, columns)  # pivots lie off the diagonal
    real = "float64" if dtype == "complex128" else dtype
    wide = a.astype(complex if dtype == "complex128" else float)
    close(weir.linalg.solve(weir.from_numpy(a), weir.from_numpy(b)), np.linalg.solve(wide, b), real)
    close(weir.linalg.inv(weir.from_numpy(a)), np.linalg.inv(wide), real)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", [lambda t: t, lambda t: t.mT.contiguous().mT, lambda t: t[:, :, :]])
@pytest.mark.parametrize("options", [{"upper": True}, {"upper": False}, {"upper": True, "left": False}, {"upper": False, "unitriangular": True}])
def test_triangles_of_any_layout(options, layout, dtype):
    n = 6
    a = batch(dtype, n, n) + 3 * np.eye(n, dtype=dtype)
    used = (np.triu if options["upper"] else np.tril)(a.astype(float))
    if options.get("unitriangular"):
        used[:, range(n), range(n)] = 1
    b = batch(dtype, 4, n) if options.get("left") is False else batch(dtype, n, 4)
    x = weir.linalg.solve_triangular(layout(weir.from_numpy(a)), weir.from_numpy(b), **options)
    close(weir.from_numpy(used.astype(dtype)) @ x if options.get("left", True) else x @ weir.from_numpy(used.astype(dtype)), b.astype(float), dtype)


def test_not_a_number_is_refused_or_passed_on():
    x = weir.full((3, 3), float("nan"))
    with pytest.raises(weir.linalg.LinAlgError):
        weir.linalg.eigh(x)
    assert weir.linalg.qr(x)[1].isnan().any()
