"""Products of vectors, matrices and tensors beyond matmul."""

import functools
import math

import weir
from weir._C import Tensor

from ._check import inexact
from ._register import OUT_EXACT, autocast_as, composite, with_out
from .einsum import einsum  # noqa: F401
from .joining import need_tensors
from .reduction import without_gradient
from .shape import wrapped_dim


def _expect(name, rank, **tensors):
    for argument, t in tensors.items():
        if t.dim() != rank:
            raise RuntimeError(f"{name}: expected {rank}-D tensor for '{argument}', but got {t.dim()}-D")


def _same_dtype(name, a, b):
    if a.dtype != b.dtype:
        raise RuntimeError(f"{name}: expected both tensors to have the same dtype, but got {a.dtype} and {b.dtype}")


@composite(out=None)
@autocast_as("float32")
def trace(input: Tensor):
    """Sum of a matrix's diagonal."""
    if input.dim() != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.dim()}")
    return input.diagonal().sum()


@composite(aliases=("ger",))
def outer(input: Tensor, vec2):
    """input_i * vec2_j."""
    _expect("outer", 1, self=input, vec2=vec2)
    return input.unsqueeze(1) * vec2


@composite(out=OUT_EXACT)
def dot(input: Tensor, tensor):
    """Sum of products of two vectors."""
    if input.dim() != 1 or tensor.dim() != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.dim()}D and {tensor.dim()}D tensors")
    if input.dtype != tensor.dtype:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {input.dtype} and {tensor.dtype}")
    if input.shape != tensor.shape:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{input.numel()}] and src [{tensor.numel()}] to have "
                           "the same number of elements")
    return (input * tensor).sum(dtype=input.dtype)


@composite(out=OUT_EXACT)
@autocast_as("unchanged")
def vdot(input: Tensor, other):
    """Sum of products of two vectors, the first conjugated."""
    return dot(input.conj(), other)


@composite(out=OUT_EXACT)
@autocast_as("unchanged")
def mv(input: Tensor, vec):
    """Matrix times vector."""
    if input.dim() != 2 or vec.dim() != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.dim()}, {vec.dim()}")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({input.shape[0]}), mat ({input.shape[0]}x{input.shape[1]}), vec "
                           f"({vec.shape[0]})")
    _same_dtype("mv", input, vec)
    return (input @ vec.unsqueeze(1)).squeeze(1)


@composite(out=OUT_EXACT, out_recorded=lambda input, other: input.dim() > 0 and other.dim() > 0)
def inner(input: Tensor, other):
    """Sums of products over the last axes."""
    if input.dim() == 0 or other.dim() == 0:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(input.shape)} and {list(other.shape)}")
    return dot(input, other) if input.dim() == other.dim() == 1 else weir.tensordot(input, other, ([-1], [-1]))


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


@composite(inplace=True, out=OUT_EXACT)
def addmv(input: Tensor, mat, vec, *, beta=1, alpha=1):
    """beta input + alpha mat @ vec."""
    if (mat.dim(), vec.dim(), input.dim()) == (2, 1, 0) and mat.shape[1] != vec.shape[0]:
        input.size(0)  # raises: PyTorch's message of the mismatch names this size
    if (mat.dim(), vec.dim()) != (2, 1) or input.dim() > 1:
        raise RuntimeError(f"addmv: vector + matrix @ vector expected, got {input.dim()}, {mat.dim()}, {vec.dim()}")
    return _scaled(input, mv(mat, vec), beta, alpha)


@composite(inplace=True)
def addr(input: Tensor, vec1, vec2, *, beta=1, alpha=1):
    """beta input + alpha outer(vec1, vec2). The factors of integers must be integers."""
    if not any(inexact(x) for x in (input, vec1, vec2)) and float in (type(beta), type(alpha)):
        raise RuntimeError("For integral input tensors, arguments alpha and beta must not be floating point numbers.")
    product = outer(vec1, vec2)
    return _scaled(input.expand(product.shape), product, beta, alpha)


@composite(inplace=True, resized=True, out=OUT_EXACT)
@autocast_as("lower")
def addbmm(input: Tensor, batch1, batch2, *, beta=1, alpha=1):
    """beta input + alpha times the sum over the batch of batch1 @ batch2."""
    wrapped_dim(batch1, 1), wrapped_dim(batch2, 2)  # PyTorch asks for these sizes before it looks at the ranks
    _expect("addbmm", 3, batch1=batch1, batch2=batch2)
    products = batch1 @ batch2
    return _scaled(input, products.sum(0, dtype=products.dtype), beta, alpha).contiguous()


@composite
def kron(input: Tensor, other):
    """The Kronecker product."""
    rank = max(input.dim(), other.dim())
    a = input.reshape([1] * (rank - input.dim()) + list(input.shape))
    b = other.reshape([1] * (rank - other.dim()) + list(other.shape))
    wide_a = a.reshape([s for size in a.shape for s in (size, 1)])
    wide_b = b.reshape([s for size in b.shape for s in (1, size)])
    return (wide_a * wide_b).reshape([m * n for m, n in zip(a.shape, b.shape)])


@composite(method=False, out=None)
def tensordot(a, b, dims=2, out=None):
    """Sums of products over `dims` last axes of a and first of b, or over two lists of axes."""
    if not isinstance(dims, (int, Tensor)):
        left, right = dims  # ValueError unless there are two
        dims = left, right
    return _tensordot(a, b, dims, out=out)


@functools.partial(with_out, rule=OUT_EXACT, recorded=True)
def _tensordot(a: Tensor, b, dims):
    """Sums of products over `dims` last axes of a and first of b, or over two lists of axes."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    left, right = [wrapped_dim(a, d) for d in left], [wrapped_dim(b, d) for d in right]
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        raise RuntimeError(f"tensordot: a dim appears multiple times in dims={dims}")
    for i, j in zip(left, right):
        if a.shape[i] != b.shape[j] and 1 not in (a.shape[i], b.shape[j]):
            raise RuntimeError(f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} and "
                               f"second has size {b.shape[j]} in dim {j}")
    for i, j in zip(left, right):  # an axis of size 1 meets any size: its partner is summed
        if a.shape[i] != b.shape[j]:
            a, b = (a.sum(i, True), b) if b.shape[j] == 1 else (a, b.sum(j, True))
    free_a = [d for d in range(a.dim()) if d not in left]
    free_b = [d for d in range(b.dim()) if d not in right]
    inner_size = math.prod(a.shape[i] for i in left)
    rows, columns = [a.shape[d] for d in free_a], [b.shape[d] for d in free_b]
    flat_a = a.permute(*free_a, *left).reshape(math.prod(rows), inner_size) if a.dim() else a.reshape(1, 1)
    flat_b = b.permute(*right, *free_b).reshape(inner_size, math.prod(columns)) if b.dim() else b.reshape(1, 1)
    if math.prod(rows + columns) == 1:  # one number: not a product of matrices, which autocast would run low
        return (flat_a[0] * flat_b[:, 0]).sum(dtype=a.dtype).reshape(rows + columns)
    return (flat_a @ flat_b).reshape(rows + columns)


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


@composite
@autocast_as("unchanged")
def cross(input: Tensor, other, dim=None):
    """The cross product along an axis of size 3, the first one unless told."""
    if dim is None:
        dim = next((d for d, s in enumerate(input.shape) if s == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return weir.linalg.cross(input, other, dim=dim)


@composite(method=False)
@autocast_as("unchanged")
def vander(x: Tensor, N=None, increasing=False):
    """Powers of a vector's elements as rows, falling unless `increasing`."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    N = x.shape[0] if N is None else N
    if N < 0:
        raise RuntimeError("N must be non-negative.")
    x = x if inexact(x) else x.to(weir.int64)
    if N < 2:  # of no power of x
        return weir.ones(x.shape[0], N, dtype=x.dtype)
    powers = weir.linalg.vander(x, N=N)
    return powers if increasing else powers.flip(-1)
