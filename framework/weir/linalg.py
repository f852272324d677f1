"""torch.linalg: the core's ops under their own names, and what is written over them."""

import functools

import weir
from weir import _C
from weir._C import Tensor

from ._arguments import checked
from ._composites._register import functions, methods, with_out

LinAlgError = _C._LinAlgError
_hidden = _C.ops["hidden"]
vector_norm, matmul = _hidden["vector_norm"], _C.ops["torch"]["matmul"]
globals().update({k.removeprefix("linalg_"): v for k, v in _C.ops["linalg"].items()})


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of the last two axes, a view."""
    return A.diagonal(offset, dim1, dim2)


@checked
def matrix_power(A: Tensor, n: int, *, out=None):
    """A multiplied n times with itself; the inverse's power for negative n. Written to `out`, the power 0 is a constant."""
    if out is None:
        return _power(A, n)
    if isinstance(out, Tensor) and n not in (0, 1) and out.dtype != A.dtype:  # what a product writes to
        raise RuntimeError(f"linalg.matrix_power: Expected out tensor to have dtype {A.dtype}, but got {out.dtype} instead")
    return _matrix_power(A.detach() if n == 0 else A, n, out=out)


def _power_recorded(A, n):
    """Whether a call with `out` ends in a copy: all others end in a product or an inverse that is written into it."""
    n = abs(n) if n != -1 else 2
    return n == 1 or (n > 2 and n & (n - 1) == 0)


_power = _hidden["matrix_power_of"]


@functools.partial(with_out, recorded=_power_recorded)
def _matrix_power(A, n):
    return _power(A, n)


def _lu(A, pivot=True, get_infos=False, out=None):
    """(LU, pivots), and info with get_infos: the form before torch.linalg."""
    LU, pivots, info = weir.linalg.lu_factor_ex(A, pivot=pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


#: What torch and Tensor call these functions, besides torch.linalg.
_old_names = dict(matrix_power=matrix_power, lu=_lu)
functions.update(_old_names)
methods.update(_old_names)
