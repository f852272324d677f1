"""Orthogonal, spectrally normalised and weight-normalised tensors. Source: torch.nn.utils.parametrizations."""

import weir
import weir.nn.functional as F
from weir import Tensor
from weir.nn.modules.module import Module

from . import parametrize
from .weight_norm import weight_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_of(module, name):
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


def _orthogonalized(matrix):
    """The orthogonal factor whose triangular factor has a positive diagonal."""
    q, r = weir.linalg.qr(matrix)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns (or rows, if wide), from any matrix. Source: Lezcano-Casado 2019."""

    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        wide = x.size(-2) < x.size(-1)
        x = x.mT if wide else x
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            a = x.tril(diagonal=-1)
            q = weir.linalg.householder_product(a, 2.0 / (1.0 + (a * a).sum(dim=-2)))
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = x.tril()
            if n != k:
                x = weir.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
            a = x - x.mH
            if self.orthogonal_map == "matrix_exp":
                q = weir.matrix_exp(a)
            else:
                identity = weir.eye(n, dtype=a.dtype, device=a.device)
                q = weir.linalg.solve(identity - 0.5 * a, identity + 0.5 * a)
            q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    @weir.no_grad()
    def right_inverse(self, q):
        """The original for q; with trivialization q becomes the base, made orthogonal."""
        if q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}.")
        original, wide = q, q.size(-2) < q.size(-1)
        q = q.mT if wide else q
        n, k = q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                                          "use_trivialization=False.")
            a, tau = weir.geqrf(q)
            a = a.clone()
            diagonal = a.diagonal(dim1=-2, dim2=-1)
            diagonal.copy_(weir.where(tau == 0.0, -diagonal.sign(), diagonal.sign()))
            return a.mT if wide else a
        if n != k:
            q = _orthogonalized(weir.cat([q, weir.randn(*q.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)], dim=-1))
        else:
            identity = weir.eye(k, dtype=q.dtype, device=q.device)
            is_orthogonal = weir.allclose(q.mH @ q, identity, atol=10.0 * n * weir.finfo(q.dtype).eps)
            q = q.clone() if is_orthogonal else _orthogonalized(q)
        self.base = q
        rows, columns = original.shape[-2:]
        minus = -weir.eye(rows, columns, dtype=original.dtype, device=original.device)
        return minus.expand(original.shape).clone()


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Makes module.name orthogonal: by 'matrix_exp' (square ones), 'cayley' or 'householder'. Returns module."""
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    return parametrize.register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_of(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return weir.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Makes module.name the product of a norm per index of dim (original0) and a direction (original1). Returns module.

    State of the older weight_norm loads too. Source: Salimans & Kingma 2016.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def load_older(state_dict, prefix, *others):
        keys = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in keys):
            for i, key in enumerate(keys):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)
    module._register_load_state_dict_pre_hook(load_older)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % weight.ndim, eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight.detach())
            for name, size in zip(("_u", "_v"), matrix.shape):
                self.register_buffer(name, F.normalize(matrix.new_empty(size).normal_(0, 1), dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight):
        return weight.movedim(self.dim, 0).flatten(1)

    @weir.no_grad()
    def _iterate(self, matrix, steps):
        for _ in range(steps):
            self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / weir.vdot(u, matrix.mv(v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divides module.name by its largest singular value, which power iterations follow in training. Returns module.

    Source: Miyato et al. 2018.
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    return parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
