"""Triangular systems, those of few right-hand sides read where they lie, others by halves, against NumPy in double precision. Source:
framework/kernels/cpu/substitute.h, triangle_lanes.h."""

import numpy as np
import pytest
import weir

TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "complex64": 2e-5, "complex128": 1e-12}
LAYOUTS = {
    "rows": lambda t: t, "columns": lambda t: t.mT.contiguous().mT, "part of rows": lambda t: weir.cat([t, t], -1)[..., : t.shape[-1]],
    "spaced": lambda t: weir.stack([t, t], -1)[..., 0], "part of columns": lambda t: weir.cat([t.mT, t.mT], -1)[..., : t.shape[-1]].mT,
}


def numbers(dtype, *shape):
    draw = np.random.default_rng(shape)
    x = draw.standard_normal(shape) + (1j * draw.standard_normal(shape) if "complex" in dtype else 0)
    return x.astype(dtype)


def matrix(dtype, n, *batch):
    return (numbers(dtype, *batch, n, n) / 8 + 3 * np.eye(n)).astype(dtype)


def close(got, expected, dtype):
    assert str(got.dtype).split(".")[-1] == dtype and got.shape == expected.shape
    assert np.abs(got.numpy() - expected).max() <= TOLERANCE[dtype] * np.abs(expected).max()


def wide(x):
    return x.astype(complex if np.iscomplexobj(x) else float)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n, columns", [(32, 1), (33, 3), (70, 2), (35, 8), (35, 9), (5, 20), (16, 33), (17, 9), (100, 40)])
def test_triangles(n, columns, layout, dtype):
    a, b = matrix(dtype, n), numbers(dtype, n, columns)
    for upper in (False, True):
        for unit in (False, True):
            used = wide((np.triu if upper else np.tril)(a))
            if unit:
                used = used / 8  # or the solution grows from row to row
                np.fill_diagonal(used, 1)
            given = LAYOUTS[layout](weir.from_numpy((wide(a) / (8 if unit else 1)).astype(dtype)))
            found = weir.linalg.solve_triangular(given, weir.from_numpy(b), upper=upper, unitriangular=unit)
            close(found, np.linalg.solve(used, wide(b)), dtype)
            found = weir.linalg.solve_triangular(given, weir.from_numpy(b.T.copy()), upper=upper, unitriangular=unit, left=False)
            close(found, np.linalg.solve(used.T, wide(b)).T, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_batches(layout, dtype):
    a, b = matrix(dtype, 40, 3), numbers(dtype, 3, 40, 2)
    found = weir.linalg.solve_triangular(LAYOUTS[layout](weir.from_numpy(a)), weir.from_numpy(b), upper=False)
    close(found, np.linalg.solve(np.tril(wide(a)), wide(b)), dtype)


def test_rows_that_are_one_row():
    row = numbers("float32", 40) / 40 + 1
    used = np.triu(np.broadcast_to(row, (40, 40)).astype(float))
    b = numbers("float32", 40, 1)
    found = weir.linalg.solve_triangular(weir.from_numpy(row).expand(40, 40), weir.from_numpy(b), upper=True)
    close(found, np.linalg.solve(used, b.astype(float)), "float32")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("columns", [1, 4, 9])
def test_cholesky_solve(columns, layout, dtype):
    factor, b = np.tril(matrix(dtype, 37)), numbers(dtype, 37, columns)
    whole = wide(factor) @ wide(factor).conj().T
    for upper in (False, True):
        given = LAYOUTS[layout](weir.from_numpy(factor.conj().T.copy() if upper else factor))
        close(weir.cholesky_solve(weir.from_numpy(b), given, upper=upper), np.linalg.solve(whole, wide(b)), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("columns", [1, 5, 9])
def test_lu_solve(columns, dtype):
    a, b = matrix(dtype, 37)[::-1].copy(), numbers(dtype, 37, columns)  # pivots lie off the diagonal
    lu, pivots = weir.linalg.lu_factor(weir.from_numpy(a))
    for given in (lu, lu.contiguous(), lu.mT.contiguous().mT):
        close(weir.linalg.lu_solve(given, pivots, weir.from_numpy(b)), np.linalg.solve(wide(a), wide(b)), dtype)
        found = weir.linalg.lu_solve(given, pivots, weir.from_numpy(b), adjoint=True)
        close(found, np.linalg.solve(wide(a).conj().T, wide(b)), dtype)
    close(weir.linalg.solve(weir.from_numpy(a), weir.from_numpy(b)), np.linalg.solve(wide(a), wide(b)), dtype)


def test_a_column_does_not_hang_on_the_others():
    a, b = weir.from_numpy(matrix("float32", 50)), weir.from_numpy(numbers("float32", 50, 7))
    for given in (a, a.mT):
        together = weir.linalg.solve_triangular(given, b, upper=True)
        for c in range(7):
            assert weir.equal(weir.linalg.solve_triangular(given, b[:, c:c + 1], upper=True), together[:, c:c + 1])
