"""Batches of tiny matrices, one in each lane of a vector, against the same matrices one by one. Source: framework/kernels/cpu/matrix_lanes.h."""

import numpy as np
import pytest
import weir

COUNTS = [2, 7, 16, 33]


def matrices(n, count, dtype):
    """Some need exchanges, some are singular at once or late, some hold what is no number."""
    x = np.random.default_rng((n, count)).standard_normal((count, n, n)).astype(dtype)
    x[0] = np.eye(n)[::-1]
    x[1, :, -1] = 0
    if count > 4:
        x[2] = 0
        x[3, 0, 0], x[4, -1, 0] = np.nan, np.inf
    return x


CALLS = {
    "lu": lambda a: weir.linalg.lu_factor_ex(a),
    "inv": lambda a: weir.linalg.inv_ex(a),
    "solve": lambda a: weir.linalg.solve_ex(a, weir.arange(float(a.size(-1) * 3), dtype=a.dtype).view(-1, 3).expand(*a.shape[:-1], 3)),
    "det": lambda a: (weir.linalg.det(a),),
    "slogdet": lambda a: weir.linalg.slogdet(a),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_many_at_once_are_each_alone(n, dtype, call):
    for count in COUNTS:
        given = weir.from_numpy(matrices(n, count, dtype))
        for a in (given, given.mT, given.expand(2, count, n, n)[1], given.flip(0)):
            together, alone = CALLS[call](a), [CALLS[call](a[i]) for i in range(count)]
            for at, result in enumerate(together):
                expected = np.stack([each[at].numpy() for each in alone])
                np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-5 if dtype == "float32" else 1e-13)


def test_a_singular_one_among_many_is_named():
    a = weir.eye(3).repeat(20, 1, 1)
    a[17, 1, 1] = 0
    with pytest.raises(weir.linalg.LinAlgError, match="Batch element 17"):
        weir.linalg.inv(a)
    with pytest.raises(weir.linalg.LinAlgError, match="Batch element 17"):
        weir.linalg.solve(a, weir.ones(20, 3))
