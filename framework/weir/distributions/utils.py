"""Helpers of distributions: broadcasting of parameters, probabilities and logits, lazy attributes."""
import functools

import weir
from weir import Tensor
from weir.nn import functional as F

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape; numbers take the dtype of the first tensor, else the default.

    ValueError for anything else.
    """
    if not all(isinstance(v, (Tensor, int, float)) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                         "__torch_function__.")
    tensors = [v for v in values if isinstance(v, Tensor)]
    dtype = tensors[0].dtype if tensors else weir.get_default_dtype()
    return weir.broadcast_tensors(*(v if isinstance(v, Tensor) else weir.tensor(v, dtype=dtype) for v in values))


def _standard_normal(shape, dtype, device=None):
    return weir.normal(weir.zeros(shape, dtype=dtype), weir.ones(shape, dtype=dtype))


def clamp_probs(probs):
    """probs kept away from 0 and 1 by the dtype's epsilon."""
    eps = weir.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits, is_binary=False):
    return weir.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def probs_to_logits(probs, is_binary=False):
    p = clamp_probs(probs)
    return weir.log(p) - weir.log1p(-p) if is_binary else weir.log(p)


def _sum_rightmost(value, dim):
    """value summed over its last `dim` dims."""
    return value if dim == 0 else value.reshape(tuple(value.shape)[:-dim] + (-1,)).sum(-1)


def vec_to_tril_matrix(vec, diag=0):
    """Lower triangular matrices from vectors of their entries, row by row."""
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > weir.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as the lower triangular "
                         "part of a square D x D matrix.")
    n = round(n)
    row, column = weir.tril_indices(n, n, diag)
    matrix = weir.zeros(tuple(vec.shape)[:-1] + (n, n), dtype=vec.dtype)
    matrix[..., row, column] = vec
    return matrix


def tril_matrix_to_vec(mat, diag=0):
    """The entries of lower triangular matrices, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    row, column = weir.tril_indices(n, n, diag)
    return mat[..., row, column]


class lazy_property:
    """A property that is computed once, with gradients on, and kept as an attribute."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return lazy_on_class(self.wrapped)
        with weir.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class lazy_on_class(property):
    def __init__(self, wrapped):
        super().__init__(wrapped)
