"""Functions that PyTorch has at its top level beside, or instead of, `nn.functional`."""
import builtins
import collections
import functools

import weir
from _weir import _argument, _warn_once
from weir import Tensor
from weir._arguments import checked
from weir._absent import absent
from weir._C import _write_out
from weir._composites._register import OUT_EXACT, autocast_as
from weir.nn import functional as F

from ._lazy import np

adaptive_avg_pool1d, avg_pool1d, pdist = F.adaptive_avg_pool1d, F.avg_pool1d, F.pdist
native_channel_shuffle = weir._C.ops["torch"]["channel_shuffle"]
prelu = F.prelu
rrelu = F.rrelu


def _positions(pool):
    def with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)
    return with_indices


def _values(pool):
    def values(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode)
    values.__name__, values.__doc__ = pool.__name__, pool.__doc__
    return values


max_pool1d, max_pool2d, max_pool3d = map(_values, (F.max_pool1d, F.max_pool2d, F.max_pool3d))
max_pool1d_with_indices = _positions(F.max_pool1d)


def adaptive_max_pool1d(input, output_size):
    """(maxima of (N, C, L) or (C, L) pooled to a length, their positions)."""
    return F.adaptive_max_pool1d(input, output_size, True)


@autocast_as("float32")
@checked
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
                        swap: bool = False, reduction: int = 0):
    """As F.triplet_margin_loss; reduction: 1 mean, 2 sum, else none."""
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor "
                           f"{anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs")
    distance = functools.partial(F.pairwise_distance, p=p, eps=eps)
    far = distance(anchor, negative)
    far = weir.minimum(far, distance(positive, negative)) if swap else far
    loss = (margin + distance(anchor, positive) - far).clamp_min(0)
    return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss


@checked
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths, target_lengths, blank: int = 0, reduction: int = 0, zero_infinity: bool = False):
    """As F.ctc_loss; reduction: 1 for the mean, 2 for the sum, else none."""
    if not isinstance(input_lengths, Tensor) or not isinstance(target_lengths, Tensor):
        input_lengths = _argument("ctc_loss", "input_lengths", 3, "list[int]", input_lengths)
        target_lengths = _argument("ctc_loss", "target_lengths", 4, "list[int]", target_lengths)
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, {1: "mean", 2: "sum"}.get(reduction, "none"), zero_infinity)


@checked
def native_dropout(input: Tensor, p: float, train: "bool | None"):
    """(input with elements dropped and the others scaled, the mask of those kept)."""
    if input.is_complex() and input.requires_grad and weir.is_grad_enabled():
        raise RuntimeError("native_dropout does not support automatic differentiation for outputs with complex dtype.")
    if input.numel() == 0:
        return input, weir.empty_like(input)
    if train is False:
        return input.clone(), weir.ones_like(input, dtype=weir.bool)
    mask = weir.empty_like(input, dtype=weir.bool).bernoulli_(1 - p)
    return (input * mask).mul_(0.0 if p == 1 else 1 / (1 - p)), mask


@checked
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0):
    """The norm of v over all dims but `dim` (over all for -1); the other dims have size 1."""
    if dim == -1:
        return v.norm(pow)
    sizes = [1] * v.dim()
    if dim == 0:
        sizes[0] = v.size(0)
        return v.contiguous().view(v.size(0), -1).norm(pow, 1).view(sizes)
    if dim == v.dim() - 1:
        sizes[dim] = v.size(-1)
        return v.contiguous().view(-1, v.size(-1)).norm(pow, 0).view(sizes)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def native_norm(input, p=2, dim=None, keepdim=False, dtype=None):
    """The norm of all elements, or along dims."""
    return weir.norm(input, p, dim, keepdim, dtype=dtype)


@checked
def frobenius_norm(input: Tensor, dim: "int | list[int]", keepdim: bool = False, *, out=None):
    """The square root of the sum of squares over at most two dims, all for none."""
    _warn_once("frobenius_norm is deprecated: use torch.linalg.vector_norm(A, 2, dim, keepdim) in its place.")
    if len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return input.norm(2, list(dim) or None, keepdim=keepdim, **({} if out is None else {"out": out}))


def nuclear_norm(input, dim=(-2, -1), keepdim=False, *, out=None):
    """The sum of singular values of matrices. The second argument may be keepdim."""
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    dim = _argument("nuclear_norm", "dim", 2, "int | list[int]", dim)
    dim = dim * 2 if len(dim) == 1 else dim  # one number stands for both
    keepdim = _argument("nuclear_norm", "keepdim", 3, "bool", keepdim)
    _warn_once("nuclear_norm is deprecated: use torch.linalg.matrix_norm(A, 'nuc', dim, keepdim) in its place.")
    r = weir.linalg.matrix_norm(input, "nuc", dim, keepdim)
    return r if out is None else _write_out("nuclear_norm", out, r, [input], OUT_EXACT, True)


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False):
    """A 1-d tensor over a file's memory: writes reach the file when `shared`. RuntimeError when the file is too small."""
    dtype = dtype or weir.get_default_dtype()
    if shared:
        with open(filename, "ab") as file:
            file.truncate(builtins.max(file.tell(), size * dtype.itemsize))
    memory = np.memmap(filename, np.uint8, "r+" if shared else "c", 0, (size * dtype.itemsize,))
    return weir.from_numpy(memory).view(dtype)


def view_as_complex_copy(input, *, out=None):
    """view_as_complex in memory of its own. RuntimeError where a gradient is asked for, which PyTorch has none of."""
    if weir.is_grad_enabled() and input.requires_grad:
        raise RuntimeError("view_as_complex_copy does not support automatic differentiation for outputs with complex dtype.")
    if input.dim() and input.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    result = weir.view_as_complex(input).clone(memory_format=weir.contiguous_format)
    return result if out is None else _write_out("view_as_complex_copy", out, result, [input], OUT_EXACT, False)


def view_as_real_copy(input, *, out=None):
    """view_as_real in memory of its own."""
    result = weir.view_as_real(input.resolve_conj()).clone(memory_format=weir.contiguous_format)
    return result if out is None else _write_out("view_as_real_copy", out, result, [input], OUT_EXACT, False)


embedding_renorm_ = weir._C.ops["hidden"]["embedding_renorm_"]


def resize_as_(input, the_template, *, memory_format=None):
    """input resized in place to the_template's shape."""
    return input.resize_(the_template.shape, memory_format=memory_format)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """Parts of input of the given sizes."""
    return input.resolve_conj().split(split_sizes, dim)


_histogramdd, _histogramdd_edges = weir._C.ops["hidden"]["histogramdd"], weir._C.ops["hidden"]["histogramdd_edges"]


def histogramdd(input, bins, range=None, weight=None, density=False):
    """(counts, edges of each dim) of the rows of input, points of D dims; bins: a number, one per dim, or edges per dim."""
    if isinstance(bins, (list, tuple)) and bins and isinstance(bins[0], Tensor):
        whole = [not (edges.dim() or edges.is_floating_point() or edges.is_complex()) for edges in bins]
        if whole[0] and not all(whole):  # the first passes for a number, and so must the others
            raise TypeError("histogramdd(): argument 'bins' must be numbers, or edges of one axis each")
        counts, *edges = _histogramdd_edges(input, weight, list(bins), density)
    else:
        counts, *edges = _histogramdd(input, [bins] * input.shape[-1] if isinstance(bins, int) else bins, range, weight, density)
    return _Histogramdd(counts, tuple(edges))


_Histogramdd = collections.namedtuple("histogramdd", ["hist", "bin_edges"])


def _in_place(name):
    method = getattr(Tensor, name, None)
    if method is None:
        return absent(name, "weir's Tensor has no such method")

    def function(input, *args, **kwargs):
        return method(input, *args, **kwargs)
    function.__name__, function.__doc__ = name, f"input.{name}(...)."
    return function


for _name in ("detach_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ clip_ fix_ negative_ conj_physical_").split():
    globals()[_name] = _in_place(_name)


def _write_back(function):
    def in_place(input, *args, **kwargs):
        return input.copy_(function(input, *args, **kwargs))
    in_place.__name__, in_place.__doc__ = function.__name__ + "_", f"{function.__name__}, in place."
    return in_place


rrelu_ = _write_back(rrelu)


for _name in ("lobpcg",):
    globals()[_name] = absent(_name)
