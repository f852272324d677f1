"""Results that are determined only in part, and what of them is: a singular vector has no sign of its own.

The functions travel to the subject's process, where `torch` means the framework under test.
"""

import re

import torch

from ..cases import ship
from ..cases.case import Case, TensorSpec


def _singular(U, S, Vh):
    """The values, what the factors multiply to, and that their columns are orthonormal, unless a value is NaN or infinite."""
    k = S.shape[-1]
    U, Vh = U[..., :, :k], Vh[..., :k, :]
    nothing = 0 * S.sum(-1).unsqueeze(-1).unsqueeze(-1)
    return S, torch.matmul(U * S.unsqueeze(-2), Vh), torch.matmul(U.mH, U) + nothing, torch.matmul(Vh, Vh.mH) + nothing


def _svd(result):
    return _singular(*result)


def _old_svd(result):
    return _singular(result[0], result[1], result[2].mH)


def _eigh(result):
    values, vectors = result
    nothing = 0 * values.sum(-1).unsqueeze(-1).unsqueeze(-1)
    return (values, torch.matmul(vectors * values.unsqueeze(-2), vectors.mH),
            torch.matmul(vectors.mH, vectors) + nothing)


def _eig(result):
    """The values, and each vector without its phase, as the product of its elements with their conjugates."""
    values, vectors = result
    return values, vectors.unsqueeze(-2) * vectors.conj().unsqueeze(-3)


def _eigvals(values):
    """The values from the smallest imaginary part to the largest, real ones by their size: LAPACK finds them in any order."""
    by_size = torch.sort(values.real, dim=-1, stable=True)[1]
    by_part = torch.sort(torch.gather(values.imag, -1, by_size), dim=-1, stable=True)[1]
    return torch.gather(values, -1, torch.gather(by_size, -1, by_part))


_DETERMINED = {"linalg.eig": _eig, "linalg.eigvals": _eigvals, "linalg.svd": _svd, "svd": _old_svd, "linalg.eigh": _eigh}


def determined(path: str):
    """What maps the result of the operation at `path` to its determined part, as data; None where all of it is."""
    return ship.pack(_DETERMINED[path]) if path in _DETERMINED else None


_DECOMPOSITIONS = re.compile(
    r"(^|\.|_)(cholesky|lu|ldl|qr|geqrf|orgqr|ormqr|householder_product|svd|svdvals|eig|eigh|eigvals|eigvalsh|lobpcg|inv|inverse|pinv"
    r"|pinverse|solve|lstsq|tensorinv|tensorsolve|det|logdet|slogdet|cond|matrix_rank|matrix_exp|matrix_power)(_|$)")


def decomposes(path: str) -> bool:
    """Whether the operation factors, inverts or solves: its answer for a singular or infinite matrix is the rounding of one CPU."""
    return bool(_DECOMPOSITIONS.search(path)) or path.endswith(("nuclear_norm", "matrix_norm", "linalg.norm"))


def multiplies(path: str, case: Case) -> bool:
    """Whether the call only multiplies and sums, though others of its operation decompose a matrix: a power that is not below zero, a norm that no
    singular values make."""
    first, second, third, *_ = *case.args, None, None, None
    if path.endswith("matrix_power"):
        n = case.kwargs.get("n", second)
        return isinstance(n, int) and n >= 0
    if not path.endswith(("matrix_norm", "linalg.norm")):
        return False
    of_vector = isinstance(case.kwargs.get("dim", third), int) or isinstance(first, TensorSpec) and len(first.size) < 2
    return of_vector or case.kwargs.get("ord", second) not in ("nuc", 2, -2)
