"""Strides of axes of size 1: they carry no element, but decide what counts as channels_last, and so the layout of what
convolutions make and the order in which dropout draws."""
import pytest
import torch
import weir

CALLS = {
    "number": "x * 2", "numbers": "(x - .13) / .3", "reflected": "1 - x", "compared": "x > 0", "broadcast": "x * t.ones(1, 1, 1, 3)",
    "scalar tensor": "t.maximum(x, t.tensor(1.))", "where": "t.where(x > 0, x, 0.)", "power": "x ** 2", "clamped": "x.clamp(0, 1)",
    "unary": "-x", "same shapes": "x + x", "filled": "x.masked_fill(x > 0, 1)", "flipped": "(x * 2).flip(2)", "cloned": "(x * 2).clone()",
    "alike": "t.empty_like(x * 2)", "cast": "(x * 2).to(t.float64)", "hardtanh": "t.nn.functional.relu6(x * 2)",
    "convolved": "t.nn.Conv2d(1, 4, 3)(x * 2)", "pooled": "t.nn.MaxPool2d(2)(t.nn.Conv2d(1, 4, 2)(x * 2))",
    "normalised": "t.nn.BatchNorm2d(4)(t.nn.Conv2d(1, 4, 2)(x * 2))", "padded": "t.nn.functional.pad(x * 2, (1, 1))",
    "viewed": "t.randn(2, 1, 16).transpose(1, 2).reshape(2, 16, 1, 1)",
    "resized": "t.nn.functional.interpolate(t.randn(2, 1, 16).transpose(1, 2).reshape(2, 16, 1, 1), size=(4, 4), mode='bilinear')",
    "diagonal": "t.ones(1, 3).diag()", "diagonal matrix": "t.ones(1).diagflat()"}


#: sizes, strides: axes of size 1 with odd strides, holes, other orders of axes.
TENSORS = {"one channel": ((2, 1, 4, 5), (20, 1, 5, 1)), "odd middle": ((3, 1, 4), (4, 7, 1)), "odd ends": ((1, 3, 1), (5, 1, 9)),
           "holes": ((3, 4), (8, 2)), "turned with holes": ((3, 4), (2, 8)), "images with holes": ((2, 3, 4, 5), (120, 2, 30, 6)),
           "turned volume": ((3, 2, 4), (2, 24, 6)), "channels_last": ((2, 3, 4, 5), (60, 1, 15, 3)), "one number": ((1, 1), (7, 9)),
           "pixels": ((2, 3, 1, 1), (3, 1, 1, 1)), "turned": ((3, 1, 4), (1, 17, 3))}
LAID_OUT = {
    "alike": "t.empty_like(x)", "cloned": "x.clone()", "cast": "x.to(t.float64)", "in rows": "x.to(t.float64, memory_format=t.contiguous_format)",
    "radians": "t.deg2rad(x)", "degrees of whole numbers": "t.rad2deg(x.to(t.int64))", "replaced": "t.nan_to_num(x)", "filled": "t.fill(x, 3)",
    "conjugated": "t.conj_physical(x.to(t.complex64))", "masked": "x.masked_fill(x > 0, 2)", "masked wider": "x.masked_fill(t.ones(2, *x.shape) > 0, 2)",
    "scattered": "x.masked_scatter(x > 0, t.zeros(1000))", "filled by index": "x.index_fill(0, t.tensor([0]), 2.)",
    "put": "x.put(t.tensor([0]), t.tensor([1.]))", "put by index": "x.index_put((t.tensor([0]),), t.tensor(1.))", "random": "t.rand_like(x)",
    "turned": "t.rot90(x, 2)", "flipped": "x.flip(0)", "rolled": "x.roll(1, 0)", "shifted": "t.fft.fftshift(x)", "transformed": "t.fft.fft(x)",
    "transformed outside": "t.fft.fft(x, dim=0)", "transformed back": "t.fft.irfft(x, 4)", "sorted": "x.sort()[0]", "renormed": "x.renorm(2, 0, 1.)",
    "between": "t.lerp(x, x, .5)", "picked": "x[t.tensor([0, 0])]", "picked inside": "x[:, t.tensor([0, 0, 0])]",
    "picked last": "x[..., t.tensor([[0, 0], [0, 0]]).t()]", "picked by mask": "x[x[:, 0].flatten()[:x.shape[0]] > -1]", "cut": "t.nn.functional.pad(x, (-1, 0))",
    "whole": "x[()]", "divided whole numbers": "(w := t.empty_strided(x.shape, x.stride(), dtype=t.int64).fill_(1)) / w", "whole numbers divided": "x.to(t.int64) / t.ones(x.shape, dtype=t.int64)",
    "finite whole numbers": "t.isfinite(x.to(t.int64))", "infinite whole numbers": "t.isinf(x.to(t.int64))", "all": "x[...]", "resolved": "x.to(t.complex64).conj().resolve_conj()", "absolute of a conjugate": "x.to(t.complex64).conj().abs()"}


@pytest.mark.parametrize("call", LAID_OUT.values(), ids=LAID_OUT)
@pytest.mark.parametrize("layout", TENSORS.values(), ids=TENSORS)
def test_strides_of_odd_layouts_are_pytorchs(layout, call):
    ours, theirs = (eval(call, {"t": t, "x": t.empty_strided(*layout).fill_(1.)}) for t in (weir, torch))
    assert (tuple(ours.shape), ours.stride()) == (tuple(theirs.shape), theirs.stride())


INDICES = {"rows": "x[i]", "columns": "x[:, i]", "inside": "x[:, :, i]", "last": "x[..., i]", "apart": "x[i, :, i]", "two": "x[:, i, i]",
           "of a matrix": "x[j]", "of a turned matrix": "x[j.t()]", "columns of a turned matrix": "x[:, j.t()]", "expanded": "x[i.expand(3, 2)]",
           "masked": "x[x > 3]", "masked columns": "x[:, x[0, :, 0, 0] > -1]", "one": "x[:, i[:1]]", "none": "x[:, i[:0]]", "negative": "x[:, -1 - i]"}


@pytest.mark.parametrize("call", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (0, 2, 3, 1), (0, 2, 1, 3)], ids=str)
def test_indexing_keeps_the_order_of_strides(order, call):
    results = []
    for t in (weir, torch):
        x = t.arange(120.).reshape(2, 3, 4, 5).permute(order).requires_grad_()
        y = eval(call, {"x": x, "i": t.tensor([0, 1]), "j": t.tensor([[0, 1, 0], [1, 0, 0]])})
        (y * t.arange(float(y.numel())).reshape(y.shape)).sum().backward()
        results.append((tuple(y.shape), y.stride(), y.tolist(), x.grad.tolist()))
    assert results[0] == results[1]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_strides_are_pytorchs(call):
    ours, theirs = (eval(call, {"t": t, "x": t.ones(5, 1, 4, 3)}).stride() for t in (weir, torch))
    assert ours == theirs


def test_dropout_draws_in_memory_order():
    def masked(t):
        t.manual_seed(0)
        features = t.nn.functional.conv2d(t.ones(2, 1, 6, 6) * 2, t.ones(4, 1, 3, 3))
        return t.nn.functional.dropout(features, 0.5).tolist()

    assert masked(weir) == masked(torch)


#: What is computed of pictures, whose channels come last in memory, and of volumes.
OF_PICTURES = {
    "group norm": "F.group_norm(x, 2)", "group norm with weights": "F.group_norm(x, 2, t.ones(4), t.zeros(4))", "batch norm": "F.batch_norm(x, None, None, training=True)",
    "instance norm": "F.instance_norm(x)", "local response": "F.local_response_norm(x, 2)", "constant": "F.pad(x, (1, 1, 1, 1))",
    "reflected": "F.pad(x, (1,) * 2 * (x.dim() - 2), 'reflect')", "replicated": "F.pad(x, (1,) * 2 * (x.dim() - 2), 'replicate')",
    "circular": "F.pad(x, (1,) * 2 * (x.dim() - 2), 'circular')", "nearest": "F.interpolate(x, scale_factor=2)",
    "means": "[F.avg_pool2d, F.avg_pool3d][x.dim() - 4](x, 2)", "maxima": "[F.max_pool2d, F.max_pool3d][x.dim() - 4](x, 2)",
    "adaptive means": "[F.adaptive_avg_pool2d, F.adaptive_avg_pool3d][x.dim() - 4](x, 2)",
    "adaptive maxima": "[F.adaptive_max_pool2d, F.adaptive_max_pool3d][x.dim() - 4](x, 2)", "prelu": "F.prelu(x, t.ones(4))", "dropout": "F.dropout(x)",
    "channel dropout": "F.dropout2d(x) if x.dim() == 4 else F.dropout3d(x)", "softmax": "F.softmax(x, 1)", "silu": "F.silu(x)", "glu": "F.glu(x, 1)",
    "shuffled": "F.pixel_shuffle(x, 2) if x.dim() == 4 else x * 2", "norm of channels": "F.normalize(x)", "joined": "t.cat([x, x], 1)", "stacked": "t.stack([x, x])"}


@pytest.mark.parametrize("call", OF_PICTURES.values(), ids=OF_PICTURES)
@pytest.mark.parametrize("sizes", [(2, 4, 6, 5), (2, 4, 3, 6, 5)])
def test_pictures_keep_their_layout(sizes, call):
    def strides(t):
        x = t.rand(sizes).contiguous(memory_format=t.channels_last if len(sizes) == 4 else t.channels_last_3d)
        return eval(call, {"t": t, "F": t.nn.functional, "x": x}).stride()
    assert strides(weir) == strides(torch)


@pytest.mark.parametrize("name", ["reflected", "replicated", "nearest", "dropout", "means", "maxima", "silu", "prelu"])
def test_gradients_of_pictures_keep_their_layout(name):
    def strides(t):
        x = t.rand(2, 4, 6, 5).contiguous(memory_format=t.channels_last).requires_grad_()
        y = eval(OF_PICTURES[name], {"t": t, "F": t.nn.functional, "x": x})
        return t.autograd.grad(y, x, t.ones_like(y).contiguous(memory_format=t.channels_last))[0].stride()
    assert strides(weir) == strides(torch)


@pytest.mark.parametrize("call", ["x.is_contiguous()", "x.is_contiguous(memory_format=t.channels_last)", "x.is_contiguous(memory_format=t.channels_last_3d)",
                                  "x.is_contiguous(t.channels_last)", "x.is_contiguous(memory_format=None)", "x.contiguous().stride()", "x.contiguous(memory_format=t.channels_last).stride()",
                                  "x.contiguous() is x", "x.contiguous(memory_format=t.preserve_format) is x", "x.contiguous(t.channels_last)", "x.contiguous(format=1)"])
def test_contiguous(call):
    def outcome(t, x):
        try:
            return eval(call, {"t": t, "x": x})
        except (TypeError, RuntimeError) as error:
            return type(error)
    makers = (lambda t: t.ones(2, 3, 4, 5), lambda t: t.ones(2, 3, 4, 5).contiguous(memory_format=t.channels_last), lambda t: t.ones(2, 4, 3, 5).transpose(1, 2),
              lambda t: t.ones(2, 1, 4, 5), lambda t: t.ones(3, 4), lambda t: t.ones(3, 4).t(), lambda t: t.ones(1, 2, 3, 4, 5), lambda t: t.ones(2, 3, 4, 5)[:, :, ::2])
    for make in makers:
        assert outcome(weir, make(weir)) == outcome(torch, make(torch))
