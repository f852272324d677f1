"""The exponential of square matrices, (*, n, n)."""

import math

import weir

from .._lazy import np
from .decomposition import decomposition

#: Terms of the exponential's series for a norm of at most 1/2: the first left out is below 2^-53 of the sum.
_SERIES = 18

#: The norm from which on PyTorch halves the matrix, by dtype: the squares that undo that are where large numbers overflow.
_HALVED_FROM = {"float32": 3.010066362817634, "float64": 1.090863719290036}


def _product(a, b):
    """A B by rounded products, of which infinite ones may meet; BLAS rounds only their sums."""
    result = np.zeros_like(a)
    for k in range(a.shape[-1]):
        result += a[..., :, k, None] * b[..., None, k, :]
    return result


def _gradient(inputs, outputs, grads, dtype):
    """The exponential of (A^T G; 0 A^T) has the derivative of A^T's along G in its corner. Source: Najfeld & Havel 1995."""
    a, size = inputs[0].mT, inputs[0].shape[-1]
    upper, lower = weir.cat([a, grads[0]], -1), weir.cat([weir.zeros_like(a), a], -1)
    return [matrix_exp(weir.cat([upper, lower], -2), dtype=dtype)[..., :size, size:]]


@decomposition(_gradient)
def matrix_exp(a, dtype):
    """The series of A / 2^s, squared s times; the last squares overflow as in `dtype`. NaNs for what is not finite."""
    size = a.shape[-1]
    if not a.size:
        return a
    with np.errstate(all="ignore"):
        if size == 1:
            return np.exp(a)
        spoiled = ~np.isfinite(a).all((-2, -1), keepdims=True)
        finite = np.where(spoiled, 0, a)
        norms = np.abs(finite).sum(-2, keepdims=True).max(-1, keepdims=True)
        largest = norms.max()
        squares = max(0, math.ceil(math.log2(largest)) + 1) if largest else 0
        rounded = np.ceil(np.log2(np.maximum(norms / _HALVED_FROM[dtype], 1)))  # how many of the last are PyTorch's
        small = finite / 2.0 ** squares
        result = np.eye(size) + small / _SERIES
        for k in range(_SERIES - 1, 0, -1):
            result = np.eye(size) + small @ result / k
        for k in range(squares):
            exact, narrow = result @ result, result.astype(dtype)
            overflows = ~np.isfinite(exact.astype(dtype)).all((-2, -1), keepdims=True)
            late = overflows & (k >= squares - rounded)
            result = np.where(late, _product(narrow, narrow), exact) if late.any() else exact
        return np.where(spoiled, math.nan, result)
