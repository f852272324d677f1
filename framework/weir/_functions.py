"""Functions that PyTorch has at its top level beside, or instead of, `nn.functional`."""
import builtins
import collections

import weir
from _weir import _argument
from weir import Tensor
from weir._arguments import checked
from weir._absent import absent
from weir.nn import functional as F

from ._lazy import np

adaptive_avg_pool1d, avg_pool1d, pdist = F.adaptive_avg_pool1d, F.avg_pool1d, F.pdist
native_channel_shuffle = weir._C.ops["torch"]["channel_shuffle"]


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


@checked
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths, target_lengths, blank: int = 0, reduction: int = 0, zero_infinity: bool = False):
    """As F.ctc_loss; reduction: 1 for the mean, 2 for the sum, else none."""
    if not isinstance(input_lengths, Tensor) or not isinstance(target_lengths, Tensor):
        input_lengths = _argument("ctc_loss", "input_lengths", 3, "list[int]", input_lengths)
        target_lengths = _argument("ctc_loss", "target_lengths", 4, "list[int]", target_lengths)
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, {1: "mean", 2: "sum"}.get(reduction, "none"), zero_infinity)


@checked
def convolution(input: Tensor, weight: Tensor, bias: "Tensor | None", stride: "list[int]", padding: "list[int]", dilation: "list[int]", transposed: bool,
                output_padding: "list[int]", groups: int):
    """conv1d, conv2d or conv3d, or their transposes, by the weight's rank. NotImplementedError for complex numbers, which those take."""
    if input.is_complex() and input.numel():
        raise NotImplementedError("convolution: not implemented for complex numbers")
    return weir._convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, False, False, True)


def _grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None):
    """nn.functional.grouped_mm, under its older name."""
    return F.grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)


def native_norm(input, p=2, dim=None, keepdim=False, dtype=None):
    """The norm of all elements, or along dims."""
    return weir.norm(input, p, dim, keepdim, dtype=dtype)


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False):
    """A 1-d tensor over a file's memory: writes reach the file when `shared`. RuntimeError when the file is too small."""
    dtype = dtype or weir.get_default_dtype()
    if shared:
        with open(filename, "ab") as file:
            file.truncate(builtins.max(file.tell(), size * dtype.itemsize))
    memory = np.memmap(filename, np.uint8, "r+" if shared else "c", 0, (size * dtype.itemsize,))
    return weir.from_numpy(memory).view(dtype)


embedding_renorm_ = weir._C.ops["hidden"]["embedding_renorm_"]
zero_ = weir._C.ops["method"]["zero_"]

_histogramdd, _histogramdd_edges = weir._C.ops["hidden"]["histogramdd"], weir._C.ops["hidden"]["histogramdd_edges"]


def histogramdd(input, bins, range=None, weight=None, density=False):
    """(counts, edges of each dim) of the rows of input, points of D dims; bins: a number, one per dim, or edges per dim."""
    if not isinstance(bins, (list, tuple)) or not bins or not isinstance(bins[0], Tensor):
        bins = _argument("histogramdd", "bins", 2, "int | list[int]", bins) if isinstance(bins, (list, tuple)) else _argument("histogramdd", "bins", 2, "int", bins)
    if isinstance(bins, (list, tuple)) and bins and isinstance(bins[0], Tensor):
        # One whole number passes for a number, and so must all others then; the op below says which do not.
        if bins[0].numel() == 1 and not (bins[0].is_floating_point() or bins[0].is_complex()):
            counts, *edges = _histogramdd(input, list(bins), range, weight, density)
            return _Histogramdd(counts, tuple(edges))
        counts, *edges = _histogramdd_edges(input, weight, list(bins), density)
    else:
        counts, *edges = _histogramdd(input, [bins] * input.shape[-1] if isinstance(bins, int) else bins, range, weight, density)
    return _Histogramdd(counts, tuple(edges))


class _Histogramdd(collections.namedtuple("histogramdd", ["hist", "bin_edges"])):
    __slots__ = ()

    def __repr__(self):
        return f"torch.return_types.histogramdd(\nhist={self.hist!r},\nbin_edges={self.bin_edges!r})"


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


for _name in ("lobpcg",):
    globals()[_name] = absent(_name)
