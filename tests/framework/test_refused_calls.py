"""Calls that PyTorch refuses and weir once took, and their neighbours that both take, by the rule that parts them."""

import numpy as np
import pytest
import torch
from twins import assert_same, to_weir

V, M = torch.tensor([0.5, -1.0, 2.0]), torch.arange(12.0).reshape(3, 4)


def _half(t, x):
    return x.to(t.float16)


def _complex(t, x):
    return t.complex(x, x).requires_grad_()


# PyTorch's own loop, which convolves bfloat16 on a CPU without AVX-512, adds a bias of any dtype, as weir does everywhere; oneDNN refuses it.
BFLOAT16_BY_ONEDNN = torch.ops.mkldnn._is_mkldnn_bf16_supported()

RULES = {
    # a number in the place of a tensor has no out=
    "and of a number": lambda t, v, m: t.bitwise_and(2, m.long(), out=m.long()), "and with a number": lambda t, v, m: t.bitwise_and(m.long(), 2, out=m.long()),
    "remainder of a number": lambda t, v, m: t.remainder(2, m, out=m.clone()), "where number": lambda t, v, m: t.where(m > 1, m, 2.0, out=m.clone()),
    "where tensors": lambda t, v, m: t.where(m > 1, m, m, out=m.clone()), "bucket of a number": lambda t, v, m: t.bucketize(1.0, v.sort()[0], out=t.tensor(0)),
    "power of a number": lambda t, v, m: t.pow(2, m, out=m.clone()),
    "order into": lambda t, v, m: t.argsort(m, 1, out=m.long()), "stable order into": lambda t, v, m: t.argsort(m, stable=True, dim=1, out=m.long()),
    # the dtype of out=
    "sum into another dtype": lambda t, v, m: t.sum(m, 1, dtype=t.float64, out=t.zeros(3)), "sum into its dtype": lambda t, v, m: t.sum(m, 1, dtype=t.float64, out=t.zeros(3).double()),
    "sum told by out": lambda t, v, m: t.sum(m, 1, out=t.zeros(3).double()), "running sum": lambda t, v, m: t.cumsum(m, 1, dtype=t.int64, out=m.clone()),
    "softmax into halves": lambda t, v, m: t.softmax(m, 1, dtype=t.float64, out=m.clone()),
    "any into numbers": lambda t, v, m: t.any(m, 1, out=t.zeros(3).long()), "any into bytes": lambda t, v, m: t.any(m, 1, out=t.zeros(3).byte()),
    "floor of a number": lambda t, v, m: t.clamp_min(m, 1, out=m.double()), "floor of a tensor": lambda t, v, m: t.clamp_min(m, m, out=m.double()),
    "product of all": lambda t, v, m: t.prod(m, out=t.tensor(0.0)),
    # the dtype of what is written in place
    "cumsum_ told another dtype": lambda t, v, m: m.clone().cumsum_(1, dtype=t.float64), "cumsum_ of int32": lambda t, v, m: m.int().cumsum_(1),
    "cumsum_ of bool": lambda t, v, m: (m > 1).cumsum_(1), "float_power_": lambda t, v, m: m.clone().float_power_(2.0), "float_power_ of doubles": lambda t, v, m: m.double().float_power_(2.0),
    "relu_ of bool": lambda t, v, m: (m > 1).relu_(),
    # what is left out
    "flip without dims": lambda t, v, m: t.flip(m), "view without sizes": lambda t, v, m: m.view(), "permute without dims": lambda t, v, m: m.permute(), "repeat": lambda t, v, m: m.repeat(),
    # operands of one dtype
    "lerp to doubles": lambda t, v, m: t.lerp(m, m.double(), 0.5), "lerp by doubles": lambda t, v, m: t.lerp(m, m, m.double()), "lerp by a double": lambda t, v, m: t.lerp(m, m, t.tensor(0.5).double()),
    "logits of whole targets": lambda t, v, m: t.nn.functional.binary_cross_entropy_with_logits(m, m.long()), "logits of half targets": lambda t, v, m: t.nn.functional.binary_cross_entropy_with_logits(v, _half(t, v)),
    # norms by singular values are of single and double precision, the others of every one
    **{f"matrix norm {ord} of halves": lambda t, v, m, ord=ord: t.linalg.matrix_norm(_half(t, m), ord) for ord in (1, -2, 2, "fro", "nuc", float("inf"))},
    "matrix norm told a Python type": lambda t, v, m: t.linalg.matrix_norm(m, dtype=float), "matrix norm told bool": lambda t, v, m: t.linalg.matrix_norm(m, dtype=bool),
    # single and double precision only
    **{name: (lambda name: lambda t, v, m: getattr(t.special, name)(_half(t, v)))(name) for name in ("airy_ai", "bessel_j0", "modified_bessel_i0", "spherical_bessel_j0", "ndtri", "log_ndtr", "erfcx")},
    "zeta": lambda t, v, m: t.special.zeta(_half(t, v), 2.0), "legendre": lambda t, v, m: t.special.legendre_polynomial_p(_half(t, v), 2), "avg_pool3d": lambda t, v, m: t.nn.functional.avg_pool3d(
        _half(t, t.ones(1, 2, 2, 2, 2)), 2), "binomial": lambda t, v, m: t.binomial(_half(t, m), _half(t, m) / 12), "margin": lambda t, v, m: t.nn.functional.multi_margin_loss(_half(t, m), t.tensor([0, 1, 2])),
    # no complex derivative
    "silu of complex": lambda t, v, m: t.nn.functional.silu(_complex(t, v)), "silu of complex constants": lambda t, v, m: t.view_as_real(t.nn.functional.silu(_complex(t, v).detach())),
    "complex rows": lambda t, v, m: t.nn.functional.embedding(t.tensor([0]), _complex(t, m)), "complex nan_to_num": lambda t, v, m: t.nan_to_num(_complex(t, v)),
    # dtypes
    "topk of truths": lambda t, v, m: t.topk(m > 1, 1), "mirrored truths": lambda t, v, m: t.nn.functional.pad(m > 1, (1, 1), "reflect"), "wrapped truths": lambda t, v, m: t.nn.functional.pad((m > 1)[None], (1, 1), "circular"),
    "resized integers": lambda t, v, m: t.nn.functional.interpolate(m.long()[None, None], size=2), "powers of halves": lambda t, v, m: t.linalg.vander(_half(t, v)), "cauchy_": lambda t, v, m: m.long()[:0].cauchy_(),
    "gru cell of integers": lambda t, v, m: t.gru_cell(*(t.ones(*s).long() for s in ((2, 2), (2, 3), (9, 2), (9, 3)))), "a line to complex numbers": lambda t, v, m: t.linspace(0, 1j, 2, dtype=t.int64),
    "powers as truths": lambda t, v, m: t.logspace(0, 1, 3, dtype=t.bool), "complex counting": lambda t, v, m: t.arange(3, dtype=t.complex64), "complex deviation": lambda t, v, m: t.normal(v, t.complex(v, v)),
    "moved by truths": lambda t, v, m: t.ldexp(m, m > 1), "halves moved": lambda t, v, m: t.ldexp(_half(t, m), t.tensor([1, 2, 3, 4])),
    # out= of the result's own dtype, but a part of complex numbers in another
    "log softmax into doubles": lambda t, v, m: t.log_softmax(m, 1, out=m.double()), "norm into doubles": lambda t, v, m: t.linalg.vector_norm(m, out=t.tensor(0.0).double()),
    "powers into doubles": lambda t, v, m: t.linalg.matrix_power(m[:, :3], 2, out=t.empty(3, 3).double()), "power 1 into doubles": lambda t, v, m: t.linalg.matrix_power(m[:, :3], 1, out=t.empty(3, 3).double()),
    "rows copied into doubles": lambda t, v, m: t.index_copy(v, 0, t.tensor([1]), v[:1], out=v.double()), "sizes into doubles": lambda t, v, m: t.abs(t.complex(v, v), out=v.double()),
    "nuclear norm into doubles": lambda t, v, m: t.nuclear_norm(m, out=t.tensor(0.0).double()), "parts into doubles": lambda t, v, m: t.view_as_real_copy(t.complex(v, v), out=t.empty(3, 2).double()),
    "lerp into doubles": lambda t, v, m: t.lerp(m, m, m, out=m.double()), "lerp by a number into doubles": lambda t, v, m: t.lerp(m, m, 0.5, out=m.double()),
    "mean into parts": lambda t, v, m: t.mean(t.complex(v, v), out=t.tensor(0.0)), "means into parts": lambda t, v, m: t.mean(t.complex(m, m), 0, out=t.ones(4)),
    "nansum into integers": lambda t, v, m: t.nansum(m, 0, out=t.ones(4).long()), "slice into doubles": lambda t, v, m: t.slice_scatter(m, m[:1], end=1, out=m.double()),
    "inner product of a learned number": lambda t, v, m: t.inner(v, t.tensor(2.0, requires_grad=True), out=v.clone()), "inner product of a number": lambda t, v, m: t.inner(
        v, t.tensor(2.0), out=v.clone()),
    # what is drawn around whole numbers, and by which deviations
    "real noise for none": lambda t, v, m: t.normal(v[:0].long(), v[:0]), "whole noise for none": lambda t, v, m: t.normal(v[:0], v[:0].long()), "noise below bytes": lambda t, v, m: t.normal(
        -1.5, v[:0].byte()), "noise of NaN": lambda t, v, m: t.normal(v, v * float("nan")), "negative noise": lambda t, v, m: t.normal(v, v),
    # numbers that a dtype cannot hold
    **{f"{x} as {dtype}": lambda t, v, m, x=x, dtype=dtype: t.full((2,), x, dtype=getattr(t, dtype))
       for dtype, xs in (("uint8", (-0.5, -1, 255.0, 255.5, 256.0)), ("int8", (127.5, -128.0, -128.5)), ("int64", (2.0**62, -(2.0**63)))) for x in xs},
    # what a name takes
    "round to no decimals": lambda t, v, m: t.round(m, decimals=0), "round integers to none": lambda t, v, m: t.round(m.long(), decimals=0), "round integers": lambda t, v, m: t.round(m.long()),
    "special round of integers": lambda t, v, m: t.special.round(m.long()), "special round": lambda t, v, m: t.special.round(m * 0.3, decimals=1), "range of no layout": lambda t, v, m: t.range(1, 2, layout=None),
    "window of complex": lambda t, v, m: t.hann_window(1, dtype=t.complex64), "window of two complex": lambda t, v, m: t.hann_window(2, dtype=t.complex64), "nothing repeated": lambda t, v, m: t.repeat_interleave(m[:0], 2, output_size=1),
    "no place to fill": lambda t, v, m: m[:0].index_fill(0, t.tensor([0]), 1.0), "a size and a factor": lambda t, v, m: t.nn.functional.interpolate(
        m[None], size=2, recompute_scale_factor=True), "padding by three for one": lambda t, v, m: t.nn.functional.conv_transpose1d(m[None], t.ones(3, 1, 2), output_padding=[0, 0, 0]),
    "transposed to nothing": lambda t, v, m: t.nn.functional.conv_transpose1d(m[None], t.ones(3, 0, 2)), "padded by more than half": lambda t, v, m: t.nn.functional.max_pool1d(m, 3, padding=2, dilation=2),
    "a value of the wrong type": lambda t, v, m: m.__setitem__((0,) * 5, [1.0]), "a complex value": lambda t, v, m: m.__setitem__(9, 1j), "an array as value": lambda t, v, m: m.__setitem__(0, V.numpy()),
    "volumes smaller than the kernel": lambda t, v, m: t.nn.functional.avg_pool3d(m[None, None], (1, 3, 5), padding=(0, 0, 2)), "planes smaller than the kernel": lambda t, v, m:
        t.nn.functional.avg_pool2d(m[None], (3, 5), padding=(0, 2)), "lines of bytes": lambda t, v, m: t.nn.functional.interpolate(m.byte()[None], 3, mode="linear"),
    "smooth halves": lambda t, v, m: t.nn.functional.interpolate(_half(t, m)[None, None], 3, mode="bilinear", antialias=True), "pictures of their size": lambda t, v, m:
        t.nn.functional.interpolate(m.t()[None, None], scale_factor=1.0), "a bias for a vector": lambda t, v, m: t.nn.functional.linear(m, m[0], v[:1]), "an endless slope": lambda t, v, m: t.rrelu(v, lower=-float("inf"), upper=1.0),
    "a slope of NaN": lambda t, v, m: t.rrelu(v, upper=float("nan")), "a vector as a state": lambda t, v, m: t.rnn_relu_cell(m[None], t.ones(3, 4), t.ones(4, 4), t.ones(4, 4)),
    "right sides of more axes": lambda t, v, m: t.linalg.lstsq(m[:, :2], t.ones(2, 3, 2)), "complex targets": lambda t, v, m: t.nn.functional.binary_cross_entropy_with_logits(
        v.requires_grad_(), t.complex(v.detach(), v.detach())), "whole class weights": lambda t, v, m: t.nn.functional.multi_margin_loss(m, t.tensor([0, 1, 2]), weight=t.ones(4).long()),
    "labels of int32": lambda t, v, m: t.nn.functional.multilabel_margin_loss(m, t.zeros(3, 4, dtype=t.int32)), "learned class weights": lambda t, v, m: t.nn.functional.multi_margin_loss(m, t.tensor([0, 1, 2]), weight=t.ones(4).requires_grad_()),
    "weights by class": lambda t, v, m: t.nn.functional.cross_entropy(m, m, weight=m), "halves leaking": lambda t, v, m: t.nn.functional.rrelu(_half(t, v), training=True), "normalised halves": lambda t, v, m: t.nn.functional.local_response_norm(
        _half(t, m[None, None]), 2), "noise with a gradient": lambda t, v, m: t.normal(v.requires_grad_(), 1.0, out=t.ones(3)), "complex tolerance": lambda t, v, m: t.linalg.matrix_rank(m, atol=t.tensor(1j)),
    "group norm of mixed halves": lambda t, v, m: t.group_norm(_half(t, m), 2, m[0], _half(t, m[0])), "group norm by doubles": lambda t, v, m: t.group_norm(m, 2, m[0].double()),
    "no groups": lambda t, v, m: t.native_group_norm(m[:0], None, None, 0, 4, 1, 2, 1e-5)[1], "strided groups": lambda t, v, m: t.native_group_norm(m.t(), None, None, 4, 3, 1, 3, 1e-5)[0], "native groups": lambda t, v, m: t.native_group_norm(m * v[:, None], m[0], m[1], 3, 4, 1, 2, 1e-5)[1],
    "view of a conjugate": lambda t, v, m: t.complex(v, v).conj().view(t.complex64), "copied view of a conjugate": lambda t, v, m: t.view_copy(t.complex(v, v).conj(), t.float32),
    "line to a tensor of complex": lambda t, v, m: t.linspace(0, t.tensor(1j), 3, dtype=t.float32), "classes weighed with a gradient": lambda t, v, m: t.nn.functional.nll_loss(m, t.tensor([0, 1]), t.ones(4).requires_grad_()),
    "losses of labels": lambda t, v, m: t.nn.functional.multilabel_soft_margin_loss(m, m[None].repeat(2, 1, 1), reduction="none"), "losses of one label": lambda t, v, m: t.nn.functional.multilabel_soft_margin_loss(v[0], v),
    # shapes
    "cut too far": lambda t, v, m: t.nn.functional.pad(t.ones(3, 1), (-2, 3)), "cut and grown": lambda t, v, m: t.nn.functional.pad(t.ones(3, 2), (-2, 3)), "mirrored nothing": lambda t, v, m: t.nn.functional.pad(t.ones(2, 0, 4), (1, 1), "reflect"),
    "cut in a circle": lambda t, v, m: t.nn.functional.pad(t.ones(2, 4, 2), (-1, -1), "circular"), "resized nothing": lambda t, v, m: t.nn.functional.interpolate(t.ones(2, 0, 5), size=3),
    "unpooled nothing": lambda t, v, m: t.nn.functional.max_unpool1d(t.ones(1, 0, 1), t.ones(1, 0, 1).long(), 2), "pool to None": lambda t, v, m: t.nn.functional.adaptive_avg_pool2d(m, None),
    "pool of a plane to one": lambda t, v, m: t.nn.functional.adaptive_avg_pool2d(m, 1), "pool of a plane": lambda t, v, m: t.nn.functional.adaptive_avg_pool2d(m, 4), "pool of five axes": lambda t, v, m: t.nn.functional.adaptive_avg_pool2d(
        t.ones(1, 2, 3, 4, 5), (1, 1)), "resize to a list": lambda t, v, m: m.resize([4, 3]), "resize": lambda t, v, m: m.resize(4, 3), "nll of a number": lambda t, v, m: t.nn.functional.nll_loss(t.tensor(1.0), t.tensor([1])),
    "cross entropy of a number": lambda t, v, m: t.nn.functional.cross_entropy(t.tensor(1.0), t.ones(2, 4)), "ragged triplets": lambda t, v, m: t.nn.functional.triplet_margin_with_distance_loss(m, t.tensor(1.0), m),
    # places
    "format by position": lambda t, v, m: t.tensor(m.is_contiguous(t.channels_last)), "draws with out": lambda t, v, m: t.bernoulli(m, 0.5, out=m.clone()),
    "diagonal of a leaf": lambda t, v, m: m.clone().requires_grad_().fill_diagonal_(0.0), "repeated conjugates": lambda t, v, m: t.complex(v, v)[:1].conj().expand(3).fill_(1),
    # matrices without elements, whose precision nobody looks at
    **{name: (lambda name: lambda t, v, m: getattr(t.linalg, name)(_half(t, t.ones(2, 0, 0))))(name) for name in ("cholesky", "det", "slogdet", "svdvals", "inv", "ldl_factor", "lu_factor")},
    "units": lambda t, v, m: t.linalg.svd(_half(t, t.ones(3, 0))), "no system": lambda t, v, m: t.linalg.solve(_half(t, t.ones(0, 3, 3)), _half(t, t.ones(0, 3, 1))),
    # values
    "deviation of halves": lambda t, v, m: t.std(_half(t, m * 100)), "means of nothing complex": lambda t, v, m: t.view_as_real(t.var_mean(t.complex(m, m)[:0], 0)[1]),
    "nested nothing": lambda t, v, m: t.tensor([[], [1.0, 2.0], []]), "gradient through integers shown as fractions": lambda t, v, m: t.zeros(3, dtype=t.int32).view(t.float32).add_(v.requires_grad_()),
    # numbers beyond the range of what they are written as
    "half of a large number": lambda t, v, m: t.full((2,), 1e6, dtype=t.float16), "half filled": lambda t, v, m: _half(t, v).fill_(1e6), "half of infinity": lambda t, v, m: t.full(
        (2,), float("inf"), dtype=t.float16), "half masked": lambda t, v, m: _half(t, v).masked_fill(v > 0, t.tensor(1e6)),
    "bytes masked": lambda t, v, m: t.ones(3, dtype=t.uint8).masked_fill(v > 0, t.tensor(300)), "bytes masked by less than zero": lambda t, v, m: t.ones(3, dtype=t.uint8).masked_fill(v > 0, -1),
    "half at an index": lambda t, v, m: _half(t, v).index_fill(0, t.tensor([0]), t.tensor(1e6)), "bytes in a row": lambda t, v, m: t.linspace(0, 300, 2, dtype=t.uint8),
    "bytes from less than zero": lambda t, v, m: t.linspace(-1.0, 1, 1, dtype=t.uint8), "bytes up to the first": lambda t, v, m: t.linspace(0, 300, 1, dtype=t.uint8),
    "bytes that cannot require grad": lambda t, v, m: t.ones(3, dtype=t.uint8).masked_fill(v > 0, v[0].clone().requires_grad_()),
    # parameters without defaults
    "dropout of no probability": lambda t, v, m: t.dropout(v), "batch norm of no flag": lambda t, v, m: t.batch_norm(m, None, None, None, None, True, 0.1, 1e-5),
    # what is looked at, and when
    "statistics of a wrong weight": lambda t, v, m: t.batch_norm(m, m[:2, 0], None, m[0], None, True, 0.1, 1e-5, False),
    "native statistics of nothing": lambda t, v, m: t.native_batch_norm(t.ones(2, 0, 4), None, None, t.ones(0), t.ones(0), True, 0.5, 1e-5),
    "a mask and what comes later": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(2, 2, 3, 3), t.ones(2, 2, 1, 3), t.ones(2, 2, 1, 2), t.ones(3, 1), is_causal=True),
    "a mask of one row": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(2, 2, 3, 3), t.ones(2, 2, 4, 3), t.ones(2, 2, 4, 2), m[1]),
    "volume pooled by no steps": lambda t, v, m: t.nn.AvgPool3d(3, 0)(t.ones(1, 1, 4, 4, 4)), "running product of a far axis": lambda t, v, m: m.cumprod_(-3, dtype=t.int64),
    "few of many that lie apart": lambda t, v, m: t.isin(2.0, m[:2, :2]), "many of many that lie apart": lambda t, v, m: t.isin(m[:2, :2], m.t()),
    "time that lies apart": lambda t, v, m: t.conv_tbc(t.ones(3, 4, 2).transpose(0, 1), t.ones(1, 2, 2), t.ones(2)),
    "copied slice of complex": lambda t, v, m: t.slice_copy(_complex(t, v)), "copied row of complex": lambda t, v, m: t.select_copy(_complex(t, v), 0, 0),
    "factors of another dtype": lambda t, v, m: t.linalg.ldl_solve(t.eye(3), t.ones(3, dtype=t.int32), t.ones(3, dtype=t.int64)),
    "complex by odd steps": lambda t, v, m: t.view_as_real(t.view_as_complex(m.as_strided((3, 2), (3, 1)))), "statistics of 0-d": lambda t, v, m: t.native_batch_norm(
        m, None, None, m[0], v[0], False, 0.5, 1e-5), "one statistic": lambda t, v, m: t.native_batch_norm(m, v[0], None, None, m[0], True, 0.5, 1e-5),
    "pool of no power": lambda t, v, m: t.nn.LPPool1d(0.0, 2)(m), "pivot of no row": lambda t, v, m: t.lu_unpack(m[:, :3], t.tensor([1, 4, 3], dtype=t.int32)),
    "pivots of rows": lambda t, v, m: t.lu_unpack(m[:, :3], t.tensor([2, 2, 3], dtype=t.int32))[0],
    # what truth has no kernel for
    **{f"{name} of truth": lambda t, v, m, f=f: f(t, v > 0) for name, f in {
        "floor": lambda t, b: t.clamp_min(b, True), "ceiling": lambda t, b: b.clamp(max=True), "limit by a number": lambda t, b: b.clamp(0, 1),
        "trace": lambda t, b: t.trace(b.expand(2, 3)), "cross product": lambda t, b: t.linalg.cross(b, b), "product added": lambda t, b: t.addcmul(b, b, b),
        "threshold": lambda t, b: t.nn.functional.threshold(b, 0, 1), "hardtanh": lambda t, b: t.nn.functional.hardtanh(b, 0, 1),
        "relu6": lambda t, b: t.nn.functional.relu6(b)}.items()},
    "hardtanh of bytes": lambda t, v, m: t.nn.functional.hardtanh(m.byte()), "hardtanh of bytes from zero": lambda t, v, m: t.nn.functional.hardtanh(m.byte(), 0, 2),
    # numbers that a dtype cannot hold
    **{f"where {x} of {dtype}": lambda t, v, m, x=x, dtype=dtype: t.where(v > 0, x, v.to(getattr(t, dtype)) if dtype != "uint8" else m[0, :3].byte())
       for x, dtype in ((300, "uint8"), (-1, "uint8"), (300, "int8"), (2**63 - 1, "int32"), (1e6, "float16"), (2.5, "uint8"))},
    **{f"scalar of {x}": lambda t, v, m, x=x, dtype=dtype: t.scalar_tensor(x, dtype=getattr(t, dtype))
       for x, dtype in ((-1.5, "uint8"), (300, "uint8"), (-1, "uint8"), (1e39, "float32"), (1e6, "float16"), (float("nan"), "int32"))},
    # a tensor is no list of whole numbers
    **{f"{name} by a tensor": lambda t, v, m, f=f: f(t, m, t.tensor([4])) for name, f in {
        "view_copy": lambda t, m, n: t.view_copy(m[0], n), "as_strided": lambda t, m, n: t.as_strided(m, n, (1,)), "steps": lambda t, m, n: t.empty_strided((2,), n) * 0,
        "full": lambda t, m, n: t.full(n, 1.0), "permute_copy": lambda t, m, n: t.permute_copy(m[0], n * 0), "expand_copy": lambda t, m, n: t.expand_copy(m[0], n),
        "broadcast_to": lambda t, m, n: t.broadcast_to(m[0], n), "layer_norm": lambda t, m, n: t.nn.functional.layer_norm(m, n),
        "pad": lambda t, m, n: t.constant_pad_nd(m, n), "kernel": lambda t, m, n: t.nn.functional.avg_pool2d(m[None].expand(4, 3, 4), n - 2),
        "x.view": lambda t, m, n: m[0].view(n), "sum": lambda t, m, n: m.sum(n - 4)}.items()},
    # a bias of another dtype is added where it casts, and where no kernel of one dtype adds it
    **{f"{name} of {dtype} by {other}": lambda t, v, m, f=f, dtype=dtype, other=other: f(t.nn.functional, t.ones(1, 2, 4).to(getattr(t, dtype)), t.ones(2, 2, 1).to(
        getattr(t, dtype)), t.ones(2).to(getattr(t, other))) for name, f in {
            "conv": lambda F, x, w, b: F.conv1d(x, w, b), "conv of a word": lambda F, x, w, b: F.conv1d(x, w, b, padding="same"),
            "conv back": lambda F, x, w, b: F.conv_transpose1d(x, w, b), "planes back": lambda F, x, w, b: F.conv_transpose2d(x[..., None], w[..., None], b),
            "volumes back": lambda F, x, w, b: F.conv_transpose3d(x[..., None, None], w[..., None, None], b),
            "nothing back": lambda F, x, w, b: F.conv_transpose1d(x[:0], w, b)}.items()
       for dtype, other in (("float32", "float64"), ("float32", "complex64"), ("float64", "uint8"), ("bfloat16", "float32"), ("bfloat16", "int32"), ("int64", "float32"), ("complex64", "float32"))
       if not (name == "conv of a word" and other == "complex64") and (not BFLOAT16_BY_ONEDNN or dtype != "bfloat16" or name in ("conv", "volumes back", "nothing back"))},
    # a factor by position stands behind a number
    **{f"rsub {name}": lambda t, v, m, f=f: f(t, v) for name, f in {
        "of a tensor": lambda t, v: t.rsub(v, v, 2), "of one element": lambda t, v: t.rsub(v, v[:1], 2), "of a number": lambda t, v: t.rsub(v, 3.0, 2),
        "of no axes": lambda t, v: t.rsub(v, v[0], 2), "of no axes, differentiated": lambda t, v: t.rsub(v, v[0].clone().requires_grad_(), 2),
        "by name": lambda t, v: t.rsub(v, v, alpha=2), "in the old order": lambda t, v: t.rsub(v, 2, v)}.items()},
    "a large number into out": lambda t, v, m: t.bitwise_xor(2**70, m.long(), out=m.long()), "a large number of two": lambda t, v, m: t.where(m > 1, m, 2**70, out=m.clone()),
    "no place to copy to": lambda t, v, m: t.index_copy(v[:0], 0, t.tensor([0]), v[:1]), "nothing to copy": lambda t, v, m: t.index_copy(m[:, :0], 0, t.tensor([7]), m[:1, :0]),
    # kernels that one dtype lacks
    "reduction of a line of truths": lambda t, v, m: t.index_reduce(v > 0, 0, t.tensor([1]), v[:1] > 0, "prod"),
    "reduction of rows of truths": lambda t, v, m: t.index_reduce(m > 3, 0, t.tensor([1]), m[:1] > 3, "prod"),
    "reduction of no complex numbers": lambda t, v, m: t.index_reduce(_complex(t, v), 0, t.zeros(0).long(), _complex(t, v[:0]), "prod"),
    "mean of no truths": lambda t, v, m: t.scatter_reduce(v > 0, 0, t.zeros(0).long(), v > 0, "mean"),
    "largest of no truths": lambda t, v, m: t.scatter_reduce(v > 0, 0, t.zeros(0).long(), v > 0, "amax"),
    "product of truths in one number": lambda t, v, m: t.inner(v > 0, v[None] > 0), "contraction of truths to one number": lambda t, v, m: t.tensordot(v > 0, v > 0, 1),
    # behind a device, or None in its place, stands a dtype
    **{f"to {name}": lambda t, v, m, f=f: f(t, v) for name, f in {
        "nothing and a flag": lambda t, v: v.to(None, False), "two nothings and a flag": lambda t, v: v.to(None, None, True), "a device and a flag": lambda t, v: v.to("cpu", True),
        "a device, a dtype and a flag": lambda t, v: v.to("cpu", t.float64, True), "a flag in two places": lambda t, v: v.to(t.float64, True, non_blocking=True),
        "a whole number and a flag": lambda t, v: v.to(np.int64(2), False), "a number and a flag": lambda t, v: v.to(np.float32(2), False),
        "two flags": lambda t, v: v.to(t.float64, True, copy=True)}.items()},
    "rows of another shape": lambda t, v, m: m.index_copy(0, t.tensor([0]), v[0]), "a row of one": lambda t, v, m: v.index_copy(0, t.tensor([0]), v[1]),
    "one element of one axis more": lambda t, v, m: m[:1, :1].index_copy(0, t.tensor([0]), v[1]),
    # what is looked at where there is nothing to compute
    "queries of no heads": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(5, 0, 3, 2), t.ones(5, 2, 4, 2), t.ones(5, 2, 4, 2)),
    "no heads": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(5, 0, 3, 2), t.ones(5, 1, 4, 2), t.ones(4, 2)),
    "no queries": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(5, 2, 0, 2), t.ones(5, 0, 4, 2), t.ones(5, 2, 4, 2)),
    "values of no heads": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(5, 0, 3, 2), t.ones(5, 2, 4, 2), t.ones(5, 0, 4, 2)),
    "no matrices of another rank": lambda t, v, m: t.bilinear(m, m, t.ones(0, 4, 4, 2), bias=t.ones(0)), "matrices of another rank": lambda t, v, m: t.bilinear(m, m, t.ones(2, 4, 4, 2)),
    "no classes in rows": lambda t, v, m: t.nn.functional.cross_entropy(t.ones(3, 0, 4), t.zeros(3, 4).long()), "no classes": lambda t, v, m: t.nn.functional.nll_loss(t.ones(3, 0), t.zeros(3).long()), "no classes of one": lambda t, v, m: t.nn.functional.nll_loss(t.ones(0), t.tensor(0)),
    "no classes in images": lambda t, v, m: t.nn.functional.nll_loss(t.ones(3, 0, 4, 4), t.zeros(3, 4, 4).long()),
    "no classes in volumes": lambda t, v, m: t.nn.functional.nll_loss(t.ones(3, 0, 1, 2, 2), t.zeros(3, 1, 2, 2).long()),
    "no volumes": lambda t, v, m: t.nn.functional.nll_loss(t.ones(3, 2, 4, 0, 4), t.zeros(3, 4, 0, 4).long()),
    # sizes
    "as many chunks as int64 holds": lambda t, v, m: t.chunk(m, 2**63 - 1), "almost as many chunks": lambda t, v, m: t.unsafe_chunk(m, 2**63 - 3), "chunks of so many": lambda t, v, m: t.unsafe_chunk(m, 2**63 - 2),
    "exponentials that no view joins": lambda t, v, m: t.linalg.matrix_exp(t.ones(4, 3, 2, 2).transpose(0, 1)), "exponentials of every other": lambda t, v, m: t.linalg.matrix_exp(t.ones(2, 4, 2, 2)[:, ::2]),
    "exponentials of numbers": lambda t, v, m: t.linalg.matrix_exp(t.ones(4, 3, 1, 1).transpose(0, 1)), "exponentials of columns": lambda t, v, m: t.linalg.matrix_exp(t.ones(3, 2, 2).mT),
    # a single half takes what is too large for it
    "number filled": lambda t, v, m: t.ones(1, 1, dtype=t.float16).fill_(1e39), "numbers filled": lambda t, v, m: t.ones(2, dtype=t.float16).fill_(1e39), "single filled": lambda t, v, m: t.ones(1).fill_(1e39),
    "number made": lambda t, v, m: t.full((1,), 70000, dtype=t.float16), "numbers made": lambda t, v, m: t.full((2,), 70000, dtype=t.float16), "new number": lambda t, v, m: v.new_full((), 1e39, dtype=t.bfloat16),
    "like a number": lambda t, v, m: t.full_like(v[:1], 1e39, dtype=t.float16), "like no number": lambda t, v, m: t.full_like(v[:0], 1e39, dtype=t.float16),
}


def _same(call, *inputs, order=1):
    """As assert_same, but an error may be of a class that PyTorch's is derived from, or that is derived from it."""
    import weir
    try:
        with torch.no_grad() if not order else torch.enable_grad():
            call(torch, *(x.clone() for x in inputs))
    except Exception as refused:
        kind = type(refused)
        with pytest.raises(Exception) as raised:
            call(weir, *map(to_weir, inputs))
        assert issubclass(raised.type, kind) or issubclass(kind, raised.type), f"{raised.value!r} instead of {refused!r}"
        return
    assert_same(call, *inputs, order=order)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.filterwarnings("ignore")
def test_refused_by_the_same_rule(name):
    _same(RULES[name], V, M)


@pytest.mark.parametrize("name", ["cat", "vstack", "stack", "roll"])
def test_autocast_promotes_between_its_two_dtypes_only(name):
    def call(t, x):
        low = x.to(t.float16)
        with t.autocast("cpu"):
            return {"cat": lambda: t.cat([low, low]), "vstack": lambda: t.vstack((x, low)), "stack": lambda: t.stack((low, x)), "roll": lambda: t.roll(low, 1)}[name]()

    _same(call, V, order=0)


@pytest.mark.parametrize("name", ["combinations", "isin", "isin of few", "whole in halves", "single in halves", "number in halves", "unique", "unique row",
                                  "consecutive rows", "consecutive", "matrix_exp", "addmv"])
def test_autocast_reaches_what_ops_are_made_of(name):
    def call(t, x):
        low = x.to(t.float16)
        with t.autocast("cpu"):
            return {"combinations": lambda: t.combinations(low), "isin": lambda: t.isin(low, low.repeat(10)), "isin of few": lambda: t.isin(low, low),
                    "whole in halves": lambda: t.isin(low.long(), low.repeat(10)), "single in halves": lambda: t.isin(x, low.repeat(10)),
                    "number in halves": lambda: t.isin(0.5, low.repeat(10)), "unique": lambda: t.unique(low, dim=0), "unique row": lambda: t.unique(low[None], dim=0),
                    "consecutive rows": lambda: t.unique_consecutive(low[None], dim=1), "consecutive": lambda: t.unique_consecutive(low, dim=0),
                    "matrix_exp": lambda: t.matrix_exp(t.diag(low)),
                    "addmv": lambda: t.addmv(x, t.ones(3, 3, dtype=t.int64), t.ones(3, dtype=t.int64))}[name]()

    _same(call, V, order=0)


@pytest.mark.parametrize("name", ["RMSprop", "Adamax", "ASGD"])
def test_capturable_steps_need_an_accelerator(name):
    def call(t, x):
        p = x.clone().requires_grad_()
        p.grad = t.ones(3)
        getattr(t.optim, name)([p], capturable=True).step()

    with pytest.raises(AssertionError):
        call(torch, V)
    import weir
    with pytest.raises(AssertionError):
        call(weir, weir.ones(3))


def test_adafactor_refuses_a_parameter_without_elements():
    import weir
    for t in (torch, weir):
        p = t.ones(0, requires_grad=True)
        p.grad = t.ones(0)
        with pytest.raises(ZeroDivisionError):
            t.optim.Adafactor([p]).step()
