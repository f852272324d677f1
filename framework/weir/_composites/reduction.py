"""Reductions beyond the core's: deviations, NaN-ignoring forms, norms, counts."""

import weir
from weir._C import Tensor

from .._factories import as_dtype
from ._check import inexact
from ._register import OUT_SAME, composite


def widened(name, x, dtype):
    """x in the `dtype` that a norm is to have. Raises RuntimeError where that is not floating or holds less than x."""
    dtype = as_dtype(dtype)
    if not inexact(dtype):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {dtype}")
    if weir.promote_types(x.dtype, dtype) != dtype:
        raise RuntimeError(f"{name}: the dtype of the input ({x.dtype}) should be convertible without narrowing to the "
                           f"specified dtype ({dtype})")
    return x.to(dtype)


vector_norm = weir._C.ops["hidden"]["vector_norm"]


@composite(out=OUT_SAME, numpy_names=False)
def norm(input: Tensor, p="fro", dim=None, keepdim=False, dtype=None):
    """p-norm over dim ('fro' and 2 are the root of the sum of squares, 'nuc' the nuclear norm)."""
    if p == "nuc":
        return weir.linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)
