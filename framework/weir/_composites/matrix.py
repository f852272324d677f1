"""Products of vectors, matrices and tensors beyond matmul."""

import weir
from _weir import _argument, _warn_once
from weir._C import Tensor

from ._register import composite, functions, in_place, methods
from .einsum import einsum  # noqa: F401


_outer = weir._C.ops["torch"]["outer"]


def ger(*args, out=None, **kwargs):
    """`outer`; deprecated where it is given `out`."""
    if out is None:
        return _outer(*args, **kwargs)
    _warn_once("torch.ger is deprecated: use torch.outer in its place.")
    return _outer(*args, out=out, **kwargs)


functions["ger"] = ger
methods["ger"] = Tensor.outer


for table in (functions, methods):
    table["addbmm_"] = in_place(weir._C.ops["torch"]["addbmm"], "addbmm", resized=True)


@composite(method=False, out=None)
def tensordot(a, b, dims=2, out=None):
    """Sums of products over `dims` last axes of a and first of b, or over two lists of axes."""
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else dims.item()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects 0 <= dims <= ndim_a and ndim_b, but got dims={dims}")
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    elif isinstance(dims, (list, tuple)):
        left, right = ([d] if isinstance(d, int) else d for d in dims)  # ValueError unless there are two
        left, right = (_argument("tensordot", name, place, "list[int]", d) for name, place, d in (("dims_self", 3, left), ("dims_other", 4, right)))
    else:
        raise RuntimeError(f"tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but got dims={dims}")
    return weir._C.ops["hidden"]["tensordot"](a, b, left, right, out=out)


#: How p = 2 may be computed. Distances never are a product of matrices here; gradients may be one, but for the last.
_COMPUTE_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
_cdist = weir._C.ops["hidden"]["cdist"]


@composite(method=False, out=None)
def cdist(x1, x2, p=2.0, compute_mode=_COMPUTE_MODES[0]):
    """p-norm distances between the rows of two batches. Shapes: (*, P, M), (*, R, M) -> (*, P, R)."""
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _cdist(x1, x2, p, compute_mode != _COMPUTE_MODES[2])
