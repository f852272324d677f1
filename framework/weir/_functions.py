"""Functions that PyTorch has at its top level beside, or instead of, `nn.functional`."""
import builtins
import functools
import math

import weir
from weir import Tensor
from weir._absent import absent
from weir.nn import functional as F

from ._lazy import np

adaptive_max_pool1d, adaptive_avg_pool1d = F.adaptive_max_pool1d, F.adaptive_avg_pool1d
avg_pool1d, channel_shuffle, native_channel_shuffle = F.avg_pool1d, F.channel_shuffle, F.channel_shuffle
bilinear, pairwise_distance, pdist = F.bilinear, F.pairwise_distance, F.pdist
pixel_shuffle, pixel_unshuffle, prelu, rms_norm = F.pixel_shuffle, F.pixel_unshuffle, F.prelu, F.rms_norm
max_pool1d, max_pool2d, max_pool3d, rrelu = F.max_pool1d, F.max_pool2d, F.max_pool3d, F.rrelu
max_pool1d_with_indices = functools.partial(F.max_pool1d, return_indices=True)
_REDUCTIONS = ("none", "mean", "sum")


def _loss(function, order):
    """A loss by position in `order`, which differs from nn.functional's, whose `reduction` is PyTorch's number: 0 none, 1 mean,
    2 sum."""
    names = order.split()

    @functools.wraps(function)
    def loss(*args, **kwargs):
        if len(args) > len(names):
            raise TypeError(f"{function.__name__}() takes {len(names)} positional arguments but {len(args)} were given")
        given = dict(zip(names, args)) | kwargs
        reduction = given.pop("reduction", 1)
        return function(**given, reduction=reduction if isinstance(reduction, str) else _REDUCTIONS[reduction])
    return loss


binary_cross_entropy_with_logits = _loss(F.binary_cross_entropy_with_logits, "input target weight pos_weight reduction")
cosine_embedding_loss = _loss(F.cosine_embedding_loss, "input1 input2 target margin reduction")
hinge_embedding_loss = _loss(F.hinge_embedding_loss, "input target margin reduction")
margin_ranking_loss = _loss(F.margin_ranking_loss, "input1 input2 target margin reduction")
triplet_margin_loss = _loss(F.triplet_margin_loss, "anchor positive negative margin p eps swap reduction")
kl_div = _loss(F.kl_div, "input target reduction")


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between x1 and x2 along dim."""
    return F.cosine_similarity(x1, x2, dim, eps)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """Negative log likelihood of Poisson counts."""
    return F.poisson_nll_loss(input, target, log_input=log_input, full=full, eps=eps,
                              reduction=reduction if isinstance(reduction, str) else _REDUCTIONS[reduction])


def affine_grid_generator(theta, size, align_corners):
    """As F.affine_grid."""
    return F.affine_grid(theta, size, align_corners)


def _dropout(function):
    @functools.wraps(function)
    def drop(input, p, train):
        if not 0 <= p <= 1:  # a RuntimeError here, a ValueError in nn.functional
            raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
        return function(input, p, train)
    return drop


alpha_dropout, feature_alpha_dropout = _dropout(F.alpha_dropout), _dropout(F.feature_alpha_dropout)


def feature_dropout(input, p, train):
    """Zeroes whole channels. Shape: (N, C, ...)."""
    return F.dropout2d(input, p, train) if input.dim() != 5 else F.dropout3d(input, p, train)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, zero_infinity=False):
    """As F.ctc_loss; reduction: 0 for none, 1 for the mean, 2 for the sum."""
    return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, ("none", "mean", "sum")[reduction], zero_infinity)


def native_dropout(input, p, train):
    """(input with elements dropped and the others scaled, the mask of those kept)."""
    if train is False:
        return input, weir.ones_like(input, dtype=weir.bool)
    mask = F.dropout(weir.ones_like(input), p, True) != 0
    return input * mask * (0.0 if p == 1 else 1 / (1 - p)), mask


def instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps, cudnn_enabled):
    """As F.instance_norm."""
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):
    """(sums, means or largest of the rows of weight per bag; three empty tensors, which PyTorch keeps for its backward)."""
    out = F.embedding_bag(indices, weight, offsets, None, 2.0, scale_grad_by_freq, ("sum", "mean", "max")[mode], sparse,
                          per_sample_weights, include_last_offset, padding_idx)
    empty = weir.empty(0, dtype=weir.int64)
    return out, empty, empty, empty


def _window(name, build):
    def window(window_length, *args, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, **kwargs):
        periodic = kwargs.pop("periodic", None)
        args = [*args]
        if periodic is None:
            periodic = args.pop(0) if args else True
        dtype = weir.get_default_dtype() if dtype is None else dtype
        if not dtype.is_floating_point:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
        if window_length < 0:
            raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
        wide = dtype if dtype in (weir.float32, weir.float64) else weir.float32
        made = build(window_length, not periodic, *args, **kwargs, dtype=wide, device=device).to(dtype)
        return made.requires_grad_() if requires_grad else made
    window.__name__, window.__doc__ = name, f"{name}(window_length, periodic=True, ...): as signal.windows, periodic unless told."
    return window


def _windows():
    from weir.signal import windows as w

    def of(function):
        return lambda n, sym, **kw: function(n, sym=sym, **kw)

    def hamming(n, sym, alpha=0.54, beta=0.46, **kw):
        if beta != 0.46 or alpha != 0.54:
            return w.general_cosine(n, a=[alpha, beta], sym=sym, **kw)
        return w.hamming(n, sym=sym, **kw)

    def kaiser(n, sym, beta=12.0, **kw):
        return w.kaiser(n, beta=beta, sym=sym, **kw)

    return {"bartlett_window": of(w.bartlett), "blackman_window": of(w.blackman), "hann_window": of(w.hann),
            "hamming_window": hamming, "kaiser_window": kaiser}


for _name, _build in _windows().items():
    globals()[_name] = _window(_name, _build)


def conv_tbc(input, weight, bias, pad=0):
    """A convolution over time first. Shapes: (T, B, C_in), (K, C_in, C_out), (C_out,) to (T + 2 pad - K + 1, B, C_out)."""
    return F.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def norm_except_dim(v, pow=2, dim=0):
    """The norm of v over all dims but `dim` (over all for -1); the other dims have size 1."""
    if dim == -1:
        return v.norm(pow)
    others = [d for d in builtins.range(v.dim()) if d != dim % v.dim()]
    return v.norm(pow, others, keepdim=True)


def native_norm(input, p=2):
    """The norm of all elements."""
    return input.norm(p)


def frobenius_norm(input, dim, keepdim=False):
    """The square root of the sum of squares over dim."""
    return input.norm(2, dim, keepdim) if dim else input.norm(2, keepdim=keepdim)


def nuclear_norm(input, dim=(-2, -1), keepdim=False):
    """The sum of singular values of matrices."""
    return weir.linalg.matrix_norm(input, "nuc", dim if dim else (-2, -1), keepdim)


def from_file(filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False):
    """A 1-d tensor over a file's memory: writes reach the file when `shared`. RuntimeError when the file is too small."""
    dtype = dtype or weir.get_default_dtype()
    if shared:
        with open(filename, "ab") as file:
            file.truncate(builtins.max(file.tell(), size * dtype.itemsize))
    memory = np.memmap(filename, np.uint8, "r+" if shared else "c", 0, (size * dtype.itemsize,))
    return weir.from_numpy(memory).view(dtype)


def range(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """start, start + step, ... up to end, which is included. Deprecated in favour of arange."""
    if end is None:
        start, end = 0, start
    count = math.floor((end - start) / step) + 1
    if count < 1:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    r = (weir.arange(count, dtype=weir.float64) * step + start).to(dtype or weir.get_default_dtype())
    return out.resize_(count).copy_(r) if out is not None else r.requires_grad_(requires_grad)


def poisson(input, generator=None):
    """Counts of Poisson distributions of the rates in input. Shape: input's."""
    rates = input.detach()
    if bool((rates < 0).any()):
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    source = np.random.default_rng(builtins.int(weir.randint(2**31, (1,), generator=generator)))
    return weir.from_numpy(np.asarray(source.poisson(rates.double().numpy()), np.float64)).to(input.dtype).reshape(input.shape)


def binomial(count, prob, generator=None):
    """Counts of successes in `count` draws of probability `prob`. Shape: that of both broadcast."""
    count, prob = weir.broadcast_tensors(count, prob)
    source = np.random.default_rng(builtins.int(weir.randint(2**31, (1,), generator=generator)))
    n = count.detach().double().numpy()
    if (n < 0).any():
        raise RuntimeError("binomial: expected counts of at least 0")
    drawn = source.binomial(n.astype(np.int64), prob.detach().double().clamp(0, 1).numpy())
    return weir.from_numpy(np.asarray(drawn, np.float64)).to(prob.dtype).reshape(prob.shape)


def embedding_renorm_(weight, indices, max_norm, norm_type):
    """Scales the rows of weight that indices name to a norm of at most max_norm, in place."""
    with weir.no_grad():
        rows = indices.reshape(-1).unique()
        weight[rows] = weight[rows].renorm(norm_type, 0, max_norm)
    return weight


def resize_as_(input, the_template, *, memory_format=None):
    """input resized in place to the_template's shape."""
    return input.resize_(the_template.shape, memory_format=memory_format)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """Parts of input of the given sizes."""
    return input.split(split_sizes, dim)


def histogram(input, bins, *, range=None, weight=None, density=False, out=None):
    """(counts, edges) of input's elements in `bins` bins over range, or in the bins whose edges `bins` holds."""
    if isinstance(bins, Tensor):
        bins = bins.detach().numpy()
    counts, edges = np.histogram(input.detach().numpy(), bins, range, density,
                                 None if weight is None else weight.detach().numpy())
    result = _Histogram((weir.from_numpy(np.asarray(counts, np.float64)).to(input.dtype),
                         weir.from_numpy(np.asarray(edges, np.float64)).to(input.dtype)))
    if out is not None:
        for target, r in zip(out, result):
            target.resize_(r.shape).copy_(r)
        return out
    return result


class _Histogram(tuple):
    """(hist, bin_edges)"""

    hist, bin_edges = property(lambda self: self[0]), property(lambda self: self[1])


def histogramdd(input, bins, range=None, weight=None, density=False):
    """(counts, edges of each dim) of the rows of input, points of D dims. Source: torch.histogramdd."""
    bins = [b.detach().numpy() if isinstance(b, Tensor) else b for b in bins] if isinstance(bins, (list, tuple)) else bins
    pairs = None if range is None else list(zip(range[::2], range[1::2]))
    counts, edges = np.histogramdd(input.detach().reshape(-1, input.shape[-1]).numpy(), bins, pairs, density,
                                   None if weight is None else weight.detach().reshape(-1).numpy())
    made = [weir.from_numpy(np.asarray(a, np.float64)).to(input.dtype) for a in (counts, *edges)]
    result = _Histogramdd((made[0], tuple(made[1:])))
    return result


class _Histogramdd(tuple):
    """(hist, bin_edges)"""

    hist, bin_edges = property(lambda self: self[0]), property(lambda self: self[1])


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


rrelu_, alpha_dropout_ = _write_back(rrelu), _write_back(alpha_dropout)
feature_dropout_, feature_alpha_dropout_ = _write_back(feature_dropout), _write_back(feature_alpha_dropout)


for _name in ("igamma", "igammac", "lobpcg"):
    globals()[_name] = absent(_name)
