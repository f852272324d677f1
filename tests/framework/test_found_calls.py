"""Calls that generated cases once found different from PyTorch, by cause: each must give its values, strides, or error type."""

import numpy
import pytest
import torch
import weir
from twins import assert_same

V, M = torch.tensor([0.5, -1.0, 2.0]), torch.arange(12.0).reshape(3, 4)
CALLS = {
    # the order of refusals
    "rnn of 0-d states": lambda t, v, m: t.rnn_tanh(t.ones(2, 3, 4), t.tensor(1.0), [m, m], False, 2, 0.0, False, False, False),
    "lstm of flat states": lambda t, v, m: t.lstm(t.ones(2, 3, 4), [m, m], [m, m], False, 0, 0.0, False, False, False),
    "packed by a number": lambda t, v, m: t.rnn_tanh(m, t.tensor(2), t.ones(1, 2, 3), [m, t.ones(3, 3)], False, 1, 0.0, False, False),
    "cell of a vector": lambda t, v, m: t.rnn_tanh_cell(t.ones(4), t.ones(2, 3), m, t.ones(3, 3)),
    "cell of flat weights": lambda t, v, m: t.rnn_tanh_cell(t.ones(2, 4), t.ones(2, 3), t.ones(4), t.ones(3, 3)),
    "gru cell of a vector": lambda t, v, m: t.gru_cell(t.ones(4), t.ones(2, 0), t.ones(1, 4, 2), t.ones(0, 0)),
    "roll of nothing": lambda t, v, m: t.roll(m[:0], [0, -2], dims=[4, -1]), "quantile of a far axis": lambda t, v, m: t.quantile(v, v, 1),
    "avg_pool2d of three sizes": lambda t, v, m: t.nn.functional.avg_pool2d(m, [1, 2, 2]), "orgqr of 0-d": lambda t, v, m: t.orgqr(t.ones(2, 3), v[0]),
    "fractional pool of a plane": lambda t, v, m: t.nn.functional.fractional_max_pool2d(m, [2, 1], [4, 4]),
    "range away": lambda t, v, m: t.range(7, 2.5), "range by nothing": lambda t, v, m: t.range(1, 2, 0), "range of NaN": lambda t, v, m: t.range(0, float("nan"), dtype=t.int64),
    "range to one": lambda t, v, m: t.range(5), "rms_norm of whole numbers": lambda t, v, m: t.rms_norm(m.long(), [4]),
    # values
    "range": lambda t, v, m: t.range(1, 4.5, 0.5), "range down": lambda t, v, m: t.range(7, -2, -3, dtype=t.int64), "range of halves": lambda t, v, m: t.range(1, 4, dtype=t.float16),
    "repeated nothing": lambda t, v, m: t.repeat_interleave(m[:0], t.tensor([3]), output_size=2), "hinge of nothing": lambda t, v, m: t.ones(()).to(
        t.nn.functional.multi_margin_loss(m[:0].long(), t.ones(0).long()).dtype),
    "same empty memory": lambda t, v, m: t.tensor(t.empty(0).is_set_to(t.empty(0))), "a blank in a target": lambda t, v, m: t.ctc_loss(
        m.reshape(3, 1, 4).requires_grad_() - 9, t.tensor([[1, 0]]), (3,), (2,), 0, 2), "impossible NaN": lambda t, v, m: t.ctc_loss(
        m.reshape(3, 1, 4) * float("inf"), t.tensor([[1, 2]]), (3,), (2,)), "targets of truths": lambda t, v, m: t.nn.functional.ctc_loss(
        m.reshape(3, 1, 4), t.tensor([[True, True]]), (3,), (1,)),
    "norm over one value": lambda t, v, m: t.instance_norm(m * 7.3, v.repeat(2)[:4], v.repeat(2)[:4], None, None, True, 0.5, 1e-5, True),
    "norm over one value, strided": lambda t, v, m: t.batch_norm(m[:1] * 7.3, m[:, 0:1].repeat(2, 1)[:4, 0], m[0], m[:, :2].reshape(-1)[:4].clone(), m[1].clone(), True, 0.5, 1e-5, False),
    "solved for doubles": lambda t, v, m: t.linalg.solve_triangular(m[:, :3] + 5, m.double(), upper=True), "solved for whole numbers": lambda t, v, m: t.linalg.solve_triangular(
        m[:, :3] + 5, m.long(), upper=False, left=True),
    # out= and odd arguments
    **{f"{name} into what cannot hold it": lambda t, v, m, name=name: getattr(t, name)((m > 2, v[0], m > 2), out=t.zeros(3, 4).bool()) for name in ("dstack", "hstack", "vstack")},
    "cat into what cannot hold it": lambda t, v, m: t.cat((m > 2, v), out=t.zeros(3).bool()), "cat of a number into truths": lambda t, v, m: t.cat((v, v[0]), out=t.zeros(3).bool()),
    "cat of nothing and more into out=": lambda t, v, m: t.cat((v[:0], m), dim=-2, out=t.zeros(3, 4)), "cat with a history": lambda t, v, m: t.cat((v * v.clone().requires_grad_(), v), out=t.zeros(6).long()),
    "cat of a far axis into truths": lambda t, v, m: t.cat((m, v), 5, out=t.zeros(3).bool()),
    "a number grows over itself": lambda t, v, m: v[0].clone().addbmm_(m[:, :1, None], m[:, 1:2, None]), "a number grows": lambda t, v, m: v[0].clone().addbmm_(m[:2, :2, None], m[:2, None, :2]),
    **{f"{name} of {shape} by {at} into out=": lambda t, v, m, name=name, shape=shape, at=at: getattr(t.fft, name)(t.ones(*shape), *at, out=t.empty(0, dtype=t.complex64))
       for name in ("ihfft", "ifft") for shape, at in (((3, 3), (1, 0)), ((1, 3), (None, 0)), ((2, 3, 4), (1, 0)), ((2, 3, 4), (2, 1)), ((2, 1, 4), (3, 0)))},
    **{f"gaussian loss of bytes, at least {eps}": lambda t, v, m, eps=eps: t.nn.functional.gaussian_nll_loss(*[m.to(t.uint8)] * 3, eps=eps, reduction="none") for eps in (True, 2, 300, 1e-6)},
    **{f"masked {name} less a tensor of {n}": lambda t, v, m, name=name, n=n: getattr(t.masked, name)(m, correction=t.ones(n) * 2, mask=m > 2) for name in ("var", "std") for n in (1, 2)},
    # layouts
    "a vector into every second element": lambda t, v, m: (lambda whole: [t.matmul(v, m, out=whole[1::2]), whole])(t.zeros(9)),
    "a line into every second element": lambda t, v, m: t.nn.functional.linear(v, m.t(), out=t.zeros(8)[::2]),
    "rms_norm": lambda t, v, m: t.rms_norm(m.t(), [3]), "max_pool1d": lambda t, v, m: t.max_pool1d(m.t().unsqueeze(0), [2]),
    "dropout": lambda t, v, m: t.tensor(
        [t.nn.functional.dropout(m.t(), 0.5).stride(), t.nn.functional.dropout(m.t()[:2], 0.5).stride()]),
    "the least integer": lambda t, v, m: t.stack([t.isneginf(t.tensor([-(2**63), 0])).long(), t.nan_to_num(t.tensor([-(2**63), 0]), neginf=2.0)]),
    "norm of one denormal number": lambda t, v, m: t.linalg.vector_norm(t.tensor([1e-40])), "parts of a conjugate": lambda t, v, m: t.view_as_real_copy(t.complex(v, v).conj()),
    "unsafe pieces of a conjugate": lambda t, v, m: t.tensor([x.is_conj() for x in t.unsafe_split(t.complex(v, v).conj(), 2)]),
    "complex log1p of NaN": lambda t, v, m: t.view_as_real(t.log1p(t.tensor([complex(float("inf"), float("nan"))]))),
    **{f"cross entropy of {dtype} smoothed": lambda t, v, m, dtype=dtype: t.nn.functional.cross_entropy(
        (m / 8).to(getattr(t, dtype)), t.tensor([0, 1, 2]), label_smoothing=0.25) for dtype in ("float16", "bfloat16")},
    "poisson loss of counts": lambda t, v, m: t.nn.functional.poisson_nll_loss(v.bfloat16(), m[1, :3].int(), full=True),
    "similarity to a number": lambda t, v, m: t.nn.functional.cosine_similarity(m.bfloat16(), t.tensor(1.0, dtype=t.float16)),
    "complex powers": lambda t, v, m: t.view_as_real(t.cat([t.tensor([0j, 0j, 1j]) ** t.tensor([0j, 1j, 0j]), t.tensor([0j, 1j]) ** 0, 0 ** t.tensor([0j, 1j]),
                                                            1 ** t.tensor([complex(float("inf"), 1), complex(0, float("nan"))])])),
    "divided by a tensor": lambda t, v, m: numpy.arange(3) / v, "divided by whole numbers": lambda t, v, m: numpy.float32(3) / v.long(),
    "divided by another shape": lambda t, v, m: numpy.arange(2) / v, "a product by its method": lambda t, v, m: m.t().__rmul__(t.ones(4, 3)),
    "a sum by its method": lambda t, v, m: m.t().__radd__(t.ones(4, 3)), "unpooled into nothing": lambda t, v, m: t.nn.functional.max_unpool3d(
        m.reshape(1, 3, 1, 2, 2), m.long().reshape(1, 3, 1, 2, 2), 3, padding=1, output_size=(1, 3, 0, 6, 5)),
    "unpooled beyond": lambda t, v, m: t.nn.functional.max_unpool2d(m.reshape(1, 3, 2, 2), m.long().reshape(1, 3, 2, 2) % 4, 1, padding=2),
    "padded to nothing": lambda t, v, m: t.nn.functional.pad(m[:2, :3].unsqueeze(0), [-1] * 4, "reflect"),
    "padded to nothing at all": lambda t, v, m: t.nn.functional.pad(m[:2, :2].unsqueeze(0), [-1] * 4, "replicate"),
    "a truth to a complex power": lambda t, v, m: t.view_as_real(t.pow(True, t.tensor([complex(1, float("inf"))]))),
    "no channels to draw from": lambda t, v, m: t.nn.functional.fractional_max_pool2d(m.new_ones(0, 7, 7), [2, 1], [4, 2]),
    "rms_norm of a number": lambda t, v, m: t.rms_norm(v[0], [1]), "mean of an infinity": lambda t, v, m: t.native_group_norm(
        t.where(m == 2, float("inf"), m), None, None, 3, 4, 1, 2, 1.0)[1],
    "statistics of halves": lambda t, v, m: t._native_batch_norm_legit(m.half(), None, None, v.repeat(2)[:4].float(), m[0] + 1, True, 0.5, 1.0)[1],
    "unpooled pictures": lambda t, v, m: t.nn.functional.max_unpool2d(m.reshape(1, 2, 2, 3).permute(0, 3, 1, 2), m.long().reshape(1, 3, 2, 2) % 4, 2),
    "added outer product": lambda t, v, m: t.addr(m.t(), m[0], v, beta=2.0), "added products": lambda t, v, m: t.baddbmm(
        m[:2, :1].unsqueeze(1).transpose(0, 2).expand(2, 1, 2), m[:2, :3].unsqueeze(1), t.ones(2, 3, 2), beta=0.0),
    "a row pooled": lambda t, v, m: t.nn.functional.adaptive_max_pool1d(m.reshape(1, 4, 3).transpose(1, 2), 2),
    # gradients
    "mean and deviation of groups": lambda t, v, m: t.cat([x.flatten() for x in t.native_group_norm(
        m * v.requires_grad_()[:, None], m[0], m[1], 3, 4, 1, 2, 1.0)]),
    "linear with a bias of rows": lambda t, v, m: t.nn.functional.linear(m.requires_grad_(), m.detach()[:2], m.detach()[:, :2].clone().requires_grad_()),
    "renormed to nothing": lambda t, v, m: t.renorm(v.half().reshape(3, 1).requires_grad_(), 0.5, 0, 0.0),
    "zero to a complex power": lambda t, v, m: t.view_as_real(t.pow(0.0, t.complex(v.requires_grad_(), v.detach()))),
    "power of a negative number": lambda t, v, m: t.view_as_real(t.pow(-1.5, t.complex(v.requires_grad_() / 4, v.detach() / 4))),
    **{f"variance of {freedom} fewer": lambda t, v, m, freedom=freedom: t.var(v.requires_grad_() * m[:, :3], dim=1, correction=freedom) for freedom in (3, 4)},
    "variance of infinity": lambda t, v, m: t.var(t.cat([v.requires_grad_(), v.new_tensor([float("inf")])]), dim=0), "groups": lambda t, v, m: t.native_group_norm(
        m * v.requires_grad_()[:, None], m[0], m[1], 3, 4, 1, 2, 1.0)[0].cos(),
    "polar": lambda t, v, m: t.view_as_real(t.polar(v.requires_grad_(), v.detach().requires_grad_())), "unique": lambda t, v, m: t.unique(v.requires_grad_()),
    # False is no zero to the gradient of a power
    "power of False": lambda t, v, m: (v.requires_grad_() * 0).__pow__(False), "False to a power": lambda t, v, m: t.view_as_real(t.complex(v.requires_grad_(), v.detach()).__rpow__(False)),
    "shrunk NaN": lambda t, v, m: t.nn.functional.softshrink(v.requires_grad_() * float("nan"), 0.25), "hard NaN": lambda t, v, m: t.nn.functional.hardshrink(v.requires_grad_() * float("nan"), 0.25),
    "mask of one axis": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(t.ones(2, 2, 3, 3), t.ones(2, 2, 4, 3), t.arange(32.0).reshape(2, 2, 4, 2), m[1].clone().requires_grad_()),
    "no indices of fractions": lambda t, v, m: t.take_along_dim(m[:0], v[:0]), "infinite weights beside padding": lambda t, v, m: t.conv_tbc(
        m.reshape(3, 2, 2), t.tensor([[[float("inf"), 1.0], [2.0, 1.0]], [[1.0, 3.0], [1.0, 1.0]]]), t.ones(2), 1),
    "time convolved": lambda t, v, m: t.conv_tbc(m.reshape(3, 2, 2).requires_grad_(), t.arange(8.0).reshape(2, 2, 2).requires_grad_(), t.ones(2), 3),
    "factors of no columns": lambda t, v, m: t.linalg.qr(m[:3, :0].requires_grad_(), "complete"), "both of a system": lambda t, v, m: t.triangular_solve(
        m[:, :2].requires_grad_(), m.detach()[:, :3] + 9.0 * t.eye(3), upper=False), "quantiles into nothing": lambda t, v, m: t.quantile(v, v.abs() / 2, 0, keepdim=True, out=t.ones(0)),
    # a real product of complex numbers
    "real product": lambda t, v, m: t.prod(t.complex(v.requires_grad_(), v.detach()), dtype=t.float32), "real products": lambda t, v, m: t.prod(t.complex(v.requires_grad_(), v.detach()), 0, dtype=t.float32),
    "real running product": lambda t, v, m: t.cumprod(t.complex(v.requires_grad_(), v.detach()), 0, dtype=t.float32), "complex of one row": lambda t, v, m: t.view_as_real(
        t.view_as_complex(m.as_strided((1, 2), (1, 1)))), "complex of one row between": lambda t, v, m: t.view_as_real(t.view_as_complex_copy(m.as_strided((3, 1, 2), (2, 1, 1)))),
    "nothing normalised": lambda t, v, m: t.native_batch_norm(t.ones(2, 0), v[:1], v[:1], v[:1], v[:1], False, 0.5, 1e-5)[0],
    "attention without heads under autocast": lambda t, v, m: t.autocast("cpu", dtype=t.bfloat16)(t.nn.functional.scaled_dot_product_attention)(m, m, m),
    "attention to nothing under autocast": lambda t, v, m: t.autocast("cpu", dtype=t.bfloat16)(t.nn.functional.scaled_dot_product_attention)(m[:0], m, m),
    "masked attention under autocast": lambda t, v, m: t.autocast("cpu", dtype=t.bfloat16)(t.nn.functional.scaled_dot_product_attention)(m, m, m, m[:, :3] / 8),
    "a label for a list of one": lambda t, v, m: t.nn.functional.multilabel_margin_loss(v[:1], t.tensor(0), reduction="none"),
    "labels for a number": lambda t, v, m: t.nn.functional.multilabel_margin_loss(v[0], t.tensor([0])),
    "the diagonal of nothing": lambda t, v, m: t.tensor(m[:0].clone().fill_diagonal_(2)._version),
    # what the rows of the baseline failed by
    "zeta whose terms are too small": lambda t, v, m: t.special.zeta(t.tensor([3e13, 1e21, 300.0, 5.0]), t.tensor([2.0, 2.5, 3.0, 2.0])),
    "gamma of NaN and nothing": lambda t, v, m: t.igammac(t.tensor([float("nan")] * 3), t.tensor([0.0, 1.0, float("inf")])),
    "normal numbers into whole ones": lambda t, v, m: t.normal(m.long(), 1.0, out=m.long()), "normal numbers of nothing": lambda t, v, m: t.normal(
        m[:0].long(), m[:0].long(), out=m[:0].long()), "normal numbers into truths": lambda t, v, m: t.normal(m[:0], -1.0, out=m[:0].bool()),
    "power of nothing": lambda t, v, m: t.ldexp(t.ones(0, 3), v * float("inf")), "power of turned numbers": lambda t, v, m: t.tensor(
        t.ldexp(t.complex(v, v), t.complex(m, m).t()).stride()),
    "padding that wraps around": lambda t, v, m: t.conv_tbc(t.ones(4, 2, 2), t.ones(1, 2, 2), t.ones(2), pad=2**63 - 1),
    "bilinear of numbers": lambda t, v, m: t.nn.functional.bilinear(v[0], v[0], t.ones(1, 1, 1)), "bilinear with a number": lambda t, v, m: t.nn.functional.bilinear(
        v[:1], v[:1], t.ones(1, 1, 1), v[0]),
    "cells of a sequence": lambda t, v, m: t.rnn_tanh(m, t.ones(1, 2), [t.ones(2, 4), t.ones(2, 2)], False, 1, 0.0, False, False, False)[0],
    "lerp by a number in a tensor": lambda t, v, m: [t.lerp(x, x * 2, t.tensor(0.25), out=v.double()) for x in (v, v > 0, v.long())],
    "nothing uniform": lambda t, v, m: t.zeros(0, 3, dtype=t.complex64).uniform_(1e300, -1.5), "nothing uniform, real": lambda t, v, m: m[:0].uniform_(1e300, -1.5),
    "statistics of more channels": lambda t, v, m: t.native_batch_norm(m[:, :1], v[:1], v[:1], m[0].clone(), v[2:].clone(), True, 0.5, 1e-5)[0],
    "norms of single NaNs": lambda t, v, m: t.norm_except_dim(t.tensor([[-0.5, float("nan"), 0.0]], requires_grad=True), dim=1),
    "product beside infinities": lambda t, v, m: t.prod(t.tensor([2.0, float("inf"), 3.0], requires_grad=True)),
    "other half truths": lambda t, v, m: t.logical_xor(v.half(), t.complex(v[0], v[0])), "half truths": lambda t, v, m: t.logical_xor(v.half(), t.complex(v, v)),
    "attention of whole numbers": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(*[m.long()] * 3),
    "a mask over stepped rows": lambda t, v, m: t.nn.functional.scaled_dot_product_attention(
        t.ones(1, 1, 3, 8)[..., ::2], *[t.ones(1, 1, 4, 4)] * 2, attn_mask=m[:, :4], is_causal=True),
    "attention of stepped rows": lambda t, v, m: t.tensor(t.nn.functional.scaled_dot_product_attention(
        t.ones(2, 3, 2, 8)[..., ::2].transpose(1, 2), *[t.ones(2, 2, 5, 4)] * 2).stride()),
    "labels of complex nothing": lambda t, v, m: t.nn.functional.multilabel_margin_loss(t.complex(m, m)[:0].requires_grad_(), m[:0].long()),
    "one row by matrices": lambda t, v, m: t.tensor([(m[:1].clone().requires_grad_(g) @ t.ones(2, 4, 3)).stride() for g in (False, True)]),
    "divided by name": lambda t, v, m: t.Tensor.__rtruediv__(m + 3, m.t().reshape(3, 4) + 0.1), "divided whole numbers by name": lambda t, v, m: t.tensor(
        t.Tensor.__rtruediv__(m[:1].long() + 1, t.tensor(3)).stride()),
    **{f"{name} of truths": lambda t, v, m, name=name: getattr(t, name)(v > 0) for name in ("round", "floor", "ceil", "trunc")},
    **{f"{name} {word}": lambda t, v, m, name=name, options=options: getattr(t, name)(m, **options) for name in ("sum", "mean") for word, options in (
        ("of all that keeps axes", {"keepdim": True}), ("of no axes that keeps them", {"dim": None, "keepdim": True}), ("without out", {"out": None}))},
    "sum of all into a tensor": lambda t, v, m: t.sum(m, out=t.tensor(0.0)), "mean of all into a tensor": lambda t, v, m: t.mean(m, out=t.tensor(0.0)),
    **{f"condition by {p} of {sizes}": lambda t, v, m, p=p, sizes=sizes: t.linalg.cond(t.ones(sizes), p) for p in (0.5, 3, "x", "fro", "nuc", 1, float("-inf"))
       for sizes in ((0, 0, 0), (0, 3, 3), (2, 0, 0), (0, 2, 3))},
    "reduced by no indices": lambda t, v, m: t.scatter_reduce(v[:0], 0, v[:0], v[:0], "mean", include_self=False),
    "sum of no axes into a tensor": lambda t, v, m: t.sum(m, None, out=t.tensor(0.0)),
    # whole numbers from 2^63 on
    **{f"{name} by a large number": lambda t, v, m, f=f: f(t, m[0].byte(), 2**63) for name, f in {
        "quotient": lambda t, x, n: x / n, "quotient of it": lambda t, x, n: t.div(n, x + 1), "true quotient": lambda t, x, n: t.true_divide(x, n),
        "xlogy": lambda t, x, n: t.xlogy(x, n), "sign": lambda t, x, n: t.copysign(x, n)}.items()},
    "a large number where": lambda t, v, m: t.where(m > 2, 2**63, m),
    # layouts and elements met again
    "where a row holds": lambda t, v, m: t.where((m[0, :3] > 1).expand(4, 3), m.t(), t.zeros(4, 3)), "inverse by a power": lambda t, v, m: t.linalg.matrix_power(
        m[:, :3] + 9 * t.eye(3), -1),
    "drawn around a stepped mean": lambda t, v, m: t.normal(m.reshape(3, 1, 4).as_strided((2, 2, 1, 2), (4, 1, 4, 2)), 0.0),
    "filled rows of one memory": lambda t, v, m: m[0].clone().expand(2, 4).index_fill_(0, t.tensor([1, 1]), 7.0),
    "a power in single precision": lambda t, v, m: t.ldexp(v.double(), t.tensor(900.5)), "a power of less": lambda t, v, m: t.ldexp(v.double(), t.tensor(0.3).half()),
    "eigenvalues of what requires grad": lambda t, v, m: t.linalg.eigvals((m[:, :3] * 0 + t.eye(3)).requires_grad_(), out=t.empty(0, dtype=t.complex64)).real,
    # spreads that a dtype holds where it does not hold their squares
    **{f"{name} of numbers of {size}": lambda t, v, m, name=name, size=size: getattr(t, name)(t.stack([v, v * 2, v * 3]) * size, 0) for name in ("std", "std_mean")
       for size in (1e23, 1.0, 1e-23)},
    "std of halves": lambda t, v, m: t.std(m.half().requires_grad_() * 5000, 1), "std of equal numbers": lambda t, v, m: t.std((m.requires_grad_() * 0).double(), 1),
    # signs, taken in place of what they are taken from
    "copysign of itself": lambda t, v, m: (lambda x: x.copysign_(x))(v.requires_grad_() * 2), "copysign into itself": lambda t, v, m: (v.requires_grad_() * 2).copysign_(-v.detach()),
    # infinities and NaN, and where they go in gradients
    "a factor that has no negative": lambda t, v, m: t.stack([t.sub(v, v + 1, alpha=-2**63), t.rsub(v, 2, alpha=-2**63), t.sub(v, v + 1, alpha=2**63 - 1)]),
    "most frequent among NaN": lambda t, v, m: t.stack(list(t.mode(t.where(m.repeat(9, 16) % 5 == 2, float("nan"), (m.repeat(9, 16) * 7) % 11), 1))),
    "exponentials of nothing": lambda t, v, m: t.view_as_real(t.logaddexp(*(t.tensor([complex(-float("inf"), y)] * 9) for y in (1, 2)))),
    **{f"slopes of a product of {x}": lambda t, v, m, x=x: (lambda z: t.view_as_real(t.autograd.grad(z.prod(0), z, t.ones(()) * 1j)[0].resolve_conj()))(
        t.tensor(x).requires_grad_()) for x in ([complex(float("inf"), 1)], [complex(1, float("nan")), 2 - 1j], [1j, 2 - 1j])},
    "slopes of exponentials changed since": lambda t, v, m: (lambda x: t.autograd.grad(t.logaddexp(x, 2 * x).mul_(3).sum(), x)[0])(v.clone().requires_grad_()),
    "shares of large complex terms": lambda t, v, m: (lambda x: t.view_as_real(t.autograd.grad(t.logaddexp(x, x.detach()).real.sum(), x)[0].resolve_conj()) * 1e2)(
        t.tensor([695.3 - 34.4j, 60.1 + 377.4j]).requires_grad_()),
    "slopes of a product with nothing": lambda t, v, m: (lambda x: t.autograd.grad(t.scatter_reduce(x, 0, t.ones(0, 2).long(), t.tensor(1.0), "prod").sum(), x)[0])(
        t.tensor([1.0, 0.0, -float("inf")]).requires_grad_()),
    "slopes of infinite powers": lambda t, v, m: (lambda x: t.autograd.grad(t.ldexp(m[:, :1] + 1, x), x, m[:, :3] - 5)[0])(
        t.tensor([1.0, float("inf"), -float("inf")]).requires_grad_()),
    # dtypes, in which a tensor without axes has no say
    "blocks of a number": lambda t, v, m: t.block_diag(t.tensor(0.5, dtype=t.float64), v), "blocks of complex and a number": lambda t, v, m: t.block_diag(
        t.tensor(0.5, dtype=t.float64), t.complex(v, v)).abs(),
    # no elements, and none to take
    "windows of a number": lambda t, v, m: t.tensor(1.0, requires_grad=True).unfold(0, 0, 3).sum() + 1, "window of a number": lambda t, v, m: t.tensor(2.0, requires_grad=True).unfold(0, 1, 1),
    "taken by no truths": lambda t, v, m: t.take_along_dim(m, m[:0] > 0), "taken by truths": lambda t, v, m: t.take_along_dim(m, m > 0),
    "taken along by no truths": lambda t, v, m: t.take_along_dim(m, m[:, :0] > 0, 1),
    "runs by position": lambda t, v, m: t.unique_consecutive(v.long(), True, dim=0), "runs with both": lambda t, v, m: t.unique_consecutive(v.long(), True, True, dim=0),
    "among others, cast": lambda t, v, m: t.isin(m.long(), t.arange(6, dtype=t.uint8).as_strided((2, 3, 2), (0, 2, 1))),
    "among others that no view joins": lambda t, v, m: t.isin(m.long(), t.arange(20).as_strided((2, 3, 2), (6, 0, 1))),
    # functions that PyTorch writes in Python
    "product over no axes": lambda t, v, m: t.masked.prod(m, []), "product over no axes, masked": lambda t, v, m: t.masked.prod(m, [], mask=m > 3),
    "exponentials of truths": lambda t, v, m: t.masked.logaddexp(v, v > 0), "loss of no features": lambda t, v, m: t.nn.functional.linear_cross_entropy(
        m[:, :0], t.ones(2, 0), t.tensor([0, 1, 0])),
    **{f"a causal hint, weights {needed}": lambda t, v, m, needed=needed: t.nn.functional.multi_head_attention_forward(
        m, m[:2], m[:2], 4, 2, m.repeat(4, 1) / 12, None, None, None, False, 0.0, t.eye(4), None, training=False, need_weights=needed,
        attn_mask=t.tensor([[False, True], [True, False], [False, False]]), is_causal=True)[0] for needed in (True, False)},
    **{f"{heads} heads": lambda t, v, m, heads=heads: t.nn.functional.multi_head_attention_forward(
        m, m, m, 4, heads, m.repeat(4, 1), None, None, None, False, 0.0, t.eye(4), None)[0] for heads in (3, -2**63, 0)},
    "no weights": lambda t, v, m: t.nn.functional.multi_head_attention_forward(m, m, m, 4, 1, None, None, None, None, False, 0.0, t.eye(4), None)[0],
    "separate weights that are not there": lambda t, v, m: t.nn.functional.multi_head_attention_forward(
        m, m, m, 4, 1, None, None, None, None, False, 0.0, t.eye(4), None, use_separate_proj_weight=True)[0],
    **{f"a rate of {dtype}": lambda t, v, m, dtype=dtype: (lambda p: ([setattr(p, "grad", p.detach() * 0 + 1), t.optim.SGD([p], lr=t.tensor(0.25).to(getattr(t, dtype))).step()],
                                                              p.detach())[1])(v.double().requires_grad_()) for dtype in ("float16", "bfloat16", "float32", "float64", "int64")},
    "unflattened number": lambda t, v, m: t.unflatten(v[0], 0, [-1]), "unpacked without data": lambda t, v, m: t.lu_unpack(
        m.requires_grad_()[:, :3], t.tensor([1, 2, 3], dtype=t.int32), False, False)[1].sum() + 1,
    **{f"least squares of no columns by {driver}": lambda t, v, m, driver=driver: t.linalg.lstsq(m[:, :0].double(), m.double(), driver=driver)[1]
       for driver in ("gels", "gelsd", "gelsy", "gelss")},
    **{f"a window of {given}": lambda t, v, m, given=given: t.signal.windows.hann(eval(given, {"t": t})) + 1 for given in ("True", "1.0", "5.0", "5.5", "t.tensor(5)")},
    "polygamma in place": lambda t, v, m: v.requires_grad_().abs().polygamma_(2), "added to a number in place": lambda t, v, m: t.Tensor.add_(1, v),
    "a bias without axes": lambda t, v, m: t.nn.functional.multi_head_attention_forward(
        m, m, m, 4, 1, m.repeat(4, 1), None, v[0], v[0], False, 0.0, t.eye(4), None)[0],
    "NaN to infinity beside other infinities": lambda t, v, m: t.nan_to_num(v / 0 * t.tensor([1, 0, -1.0]).repeat(len(v))[:len(v)], nan=float("inf"), posinf=9.0, neginf=-7.0),
    **{f"{name} of no stride told": lambda t, v, m, name=name: getattr(t.nn.functional, name)(m.expand(1, 1, 2, *m.shape) if "3d" in name else m[None, None], 2, None)
       for name in ("avg_pool2d", "avg_pool3d", "max_pool2d")},
    "rolled along None": lambda t, v, m: t.roll(m, 1, None) + m.roll(1, dims=None),
    "flags that are true or not": lambda t, v, m: t.masked.sum(m, True, keepdim=2, mask=m > 3), "a flag of None": lambda t, v, m: t.masked.mean(m, 0, keepdim=None),
}


#: What is left of a value less itself is its rounding, here times 1 / sqrt(1e-5): whether multiply-adds are fused decides over it.
ROUNDINGS_ALONE = {"norm over one value": 3e-3, "norm over one value, strided": 3e-3}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(name):
    fused = weir.backends.cpu.get_cpu_capability() != "DEFAULT"
    assert_same(CALLS[name], V, M, rtol=1e-6, atol=1e-5 if fused else ROUNDINGS_ALONE.get(name, 1e-5), order=1, what=name)


def test_unique_elements_have_no_derivative(x=(1.0, 1.0, 2.0)):
    for t in (torch, weir):
        with pytest.raises(NotImplementedError):
            t.unique_consecutive(t.tensor(x, requires_grad=True)).sum().backward()


def test_a_matrix_of_indices_is_read_to_its_end():
    """PyTorch's numbers; it writes outside its memory on the way, and so is not asked."""
    import weir
    m, indices, offsets = weir.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]), weir.tensor([[1, 0, 2], [1, 1, 0]]), weir.tensor([0, 1])
    assert weir.embedding_bag(m, indices, offsets)[0].tolist() == [[2, 20], [9, 90]]
    assert weir.embedding_bag(m, indices, offsets, mode=1)[0].tolist() == [[2, 20], [9, 90]]
    assert weir.embedding_bag(m, indices, weir.tensor([0]), mode=1)[0].tolist() == [[5.5, 55]]


def test_every_row_needs_a_pivot():
    """PyTorch reads behind the ones that are given."""
    import weir
    with pytest.raises(RuntimeError, match="expected 3 pivots"):
        weir.lu_unpack(weir.ones(3, 4), weir.tensor([1, 2], dtype=weir.int32))
