"""Results that are determined only in part, and what of them is: a singular vector has no sign of its own.

The functions travel to the subject's process, where `torch` means the framework under test.
"""

import torch

from ..cases import ship


def _singular(U, S, Vh):
    """The values, what the factors multiply to, and that their columns are orthonormal, unless a value is NaN or infinite."""
    k = S.shape[-1]
    U, Vh = U[..., :, :k], Vh[..., :k, :]
    nothing = 0 * S.sum(-1).unsqueeze(-1).unsqueeze(-1)
    return S, torch.matmul(U * S.unsqueeze(-2), Vh), torch.matmul(U.mT, U) + nothing, torch.matmul(Vh, Vh.mT) + nothing


def _svd(result):
    return _singular(*result)


def _old_svd(result):
    return _singular(result[0], result[1], result[2].mT)


def _eigh(result):
    values, vectors = result
    nothing = 0 * values.sum(-1).unsqueeze(-1).unsqueeze(-1)
    return (values, torch.matmul(vectors * values.unsqueeze(-2), vectors.mT),
            torch.matmul(vectors.mT, vectors) + nothing)


_DETERMINED = {"linalg.svd": _svd, "svd": _old_svd, "linalg.eigh": _eigh}


def determined(path: str):
    """What maps the result of the operation at `path` to its determined part, as data; None where all of it is."""
    return ship.pack(_DETERMINED[path]) if path in _DETERMINED else None
