"""Products of vectors, matrices and tensors beyond matmul."""

import weir
from weir._C import Tensor

from ._check import inexact
from ._register import OUT_EXACT, alias, autocast_as, composite
from .einsum import einsum  # noqa: F401
from .joining import need_tensors
from .reduction import without_gradient
from .shape import wrapped_dim


alias("ger", "outer")


def _expect(name, rank, **tensors):
    for argument, t in tensors.items():
        if t.dim() != rank:
            raise RuntimeError(f"{name}: expected {rank}-D tensor for '{argument}', but got {t.dim()}-D")


def _scaled(input, product, beta, alpha):
    if not inexact(product):  # factors are truncated to the product's dtype
        beta, alpha = (weir.full((), factor, dtype=product.dtype).item() for factor in (beta, alpha))
    product = product if alpha == 1 else product * alpha
    if beta == 0:  # NaN in input must not come through; its gradient is zero
        return without_gradient(product, input)
    result = (input if beta == 1 else input * beta) + product
    if result.shape != product.shape:
        raise RuntimeError(f"input of size {list(input.shape)} is not expandable to {list(product.shape)}")
    return result


@composite(inplace=True, resized=True, out=OUT_EXACT)
@autocast_as("lower")
def addbmm(input: Tensor, batch1, batch2, *, beta=1, alpha=1):
    """beta input + alpha times the sum over the batch of batch1 @ batch2."""
    wrapped_dim(batch1, 1), wrapped_dim(batch2, 2)  # PyTorch asks for these sizes before it looks at the ranks
    _expect("addbmm", 3, batch1=batch1, batch2=batch2)
    products = batch1 @ batch2
    return _scaled(input, products.sum(0, dtype=products.dtype), beta, alpha).contiguous()


@composite(method=False, out=None)
def tensordot(a, b, dims=2, out=None):
    """Sums of products over `dims` last axes of a and first of b, or over two lists of axes."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects 0 <= dims <= ndim_a and ndim_b, but got dims={dims}")
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)  # ValueError unless there are two
    return weir._C.ops["hidden"]["tensordot"](a, b, left, right, out=out)


@composite(method=False)
def chain_matmul(*matrices):
    """The product of several matrices."""
    return weir.linalg.multi_dot(need_tensors(matrices))


#: How PyTorch may compute p = 2; here all are one.
_COMPUTE_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
_cdist = weir._C.ops["hidden"]["cdist"]


@composite(method=False, out=None)
def cdist(x1, x2, p=2.0, compute_mode=_COMPUTE_MODES[0]):
    """p-norm distances between the rows of two batches. Shapes: (*, P, M), (*, R, M) -> (*, P, R)."""
    if compute_mode not in _COMPUTE_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _cdist(x1, x2, p)
