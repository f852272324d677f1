"""Rows that run through several ops a few at a time: framework/graph/row_blocks.cpp, framework/graph/grouping.cpp, framework/op/row_blocks.cpp and
framework/kernels/cpu/row_blocks.cpp. Which programs become blocks, and that no bit of them changes."""

import pytest
import weir
from weir.nn import functional as F


def plans(function, *args, **options):
    """The ops of the plan, and that it gives what eager mode gives."""
    with weir._trace.tracing() as t:
        out = function(*t.arguments(args))
        graph = t.finish(list(out) if isinstance(out, tuple) else [out])
    expected = function(*args)
    plan = weir._C._Plan(graph, **options)
    plan.graph.check()
    for got, e in zip(plan.run(list(args)), expected if isinstance(expected, tuple) else (expected,), strict=True):
        assert got.dtype == e.dtype and got.shape == e.shape and got.stride() == e.stride()
        assert bits(got) == bits(e)
    return [plan.graph.node(i)["op"] for i in range(len(plan.graph))]


def bits(t):
    t = t.detach().contiguous()
    return (t.view(weir.int16) if t.dtype == weir.bfloat16 else t).numpy().tobytes()


def rms_norm(x, w):
    return x * weir.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def softmax(x):
    e = weir.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@pytest.mark.parametrize("dtype", [weir.float32, weir.float64, weir.bfloat16])
@pytest.mark.parametrize("shape", [(257, 1024), (3, 150, 512), (100_000, 3), (5000, 64), (20_011, 8), (700, 1025), (2, 40_000), (2, 30_000)], ids=str)
def test_norms_by_hand(shape, dtype):
    x, w = weir.randn(*shape).to(dtype), weir.randn(shape[-1]).to(dtype)
    ops = plans(rms_norm, x, w)
    assert ops == ["row_blocks"] or shape[-1] > 16_384
    assert plans(softmax, x) == ["row_blocks"] or shape[-1] > 16_384


def test_small_tensors_are_left_alone():
    assert "row_blocks" not in plans(rms_norm, weir.randn(8, 64), weir.randn(64))


def test_gradients():
    def train(x, w):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        loss = (rms_norm(x, w) * softmax(x)).square().sum()
        return (loss, *weir.autograd.grad(loss, [x, w]))
    assert "row_blocks" in plans(train, weir.randn(300, 700), weir.randn(700))


def test_kernels_along_rows_and_their_neighbours():
    def block(x, y, w, b):
        h = F.layer_norm(x + y, (512,), w, b)
        return F.gelu(h) + x, (h * 0.5).softmax(-1), h.cumsum(-1), h.argmax(-1), h.max(-1).values
    x = weir.randn(4, 100, 512)
    assert plans(block, x, weir.randn(4, 100, 512), weir.randn(512), weir.randn(512)) == ["row_blocks"]


def test_axes_behind_the_rows():
    def channels(x, scale):
        y = x * scale
        return y / y.norm(dim=1, keepdim=True), y.softmax(1), y.sum((1, 2, 3))
    assert "row_blocks" in plans(channels, weir.randn(20, 16, 24, 10), weir.randn(16, 1, 1))


def test_views_between_the_steps():
    def heads(x):
        y = (x * 2).view(64, 16, 128)
        m = y.mean(-1)
        return (y.transpose(1, 2) * m.unsqueeze(1)).sum(-1), (y - y.amax((1, 2), keepdim=True))[:, ::2, 3:].exp()
    assert "row_blocks" in plans(heads, weir.randn(64, 2048))


def test_inputs_in_other_layouts():
    x = weir.randn(512, 300)
    for seen in (x.t(), x.t()[::2], x.expand(2, 512, 300), x[:, ::3], x[:, None].expand(512, 4, 300).transpose(0, 1)):
        plans(softmax, seen)
        plans(lambda x, w: rms_norm(x + 1, w), seen, weir.randn(seen.shape[-1]))


def test_what_only_some_rows_share():
    """A mask of each batch, the same for its heads; one of each word, the same for all batches; and what lies between."""
    def attention(scores, mask):
        return softmax(scores * 0.125 + mask)
    for shape in ((4, 1, 1, 64), (1, 1, 1, 64), (64,), (32, 64), (32, 1), (1, 8, 1, 1), (8, 1, 1), (4, 1, 32, 64), (1, 8, 32, 1), (4, 8, 1, 64), (4, 1, 32, 1), ()):
        for block in (None, 1, 4096):
            assert plans(attention, weir.randn(4, 8, 32, 64), weir.randn(shape), row_block=block) == ["row_blocks"], shape
    for lead in ((1, 8, 32), (8, 1, 32), (8, 32, 1), (1, 1, 256)):
        for shape in (lead, lead[1:], lead[2:]):
            assert plans(attention, weir.randn(*lead, 64), weir.randn(*shape, 64), row_block=999) == ["row_blocks"], (lead, shape)
    assert plans(attention, weir.randn(4, 8, 32, 64), weir.randn(4, 1, 1, 64).expand(4, 8, 1, 64)) == ["row_blocks"]


def test_what_changes_between():
    def f(x, y):
        m = (x * y).sum(-1, keepdim=True)
        y.mul_(2)
        return m * y, x - m
    x, y = weir.randn(300, 300), weir.randn(300, 300)
    plans(lambda x, y: f(x, y.clone()), x, y)


def test_sums_down_the_columns_read_what_blocks_leave():
    def f(x):
        y = (x - x.mean(-1, keepdim=True)).exp()
        return y.sum(0), (y / y.sum(-1, keepdim=True)).sum(0), y
    ops = plans(f, weir.randn(400, 333))
    assert ops.count("row_blocks") >= 1 and ops.count("sum") == 2


def test_errors_of_kernels_come_out():
    def f(x, i):
        return (F.one_hot(i, 16).float() * x).sum(-1)
    assert plans(f, weir.randn(9000, 16), weir.randint(0, 16, (9000,)))


@pytest.mark.parametrize("block", [1, 100, 4096, 1 << 30])
def test_blocks_of_any_size(block):
    assert plans(rms_norm, weir.randn(37, 11), weir.randn(11), row_block=block) == ["row_blocks"]
    plans(softmax, weir.randn(2, 3), row_block=block)


def test_a_group_names_its_ops():
    x, w = weir.randn(300, 300), weir.randn(300)
    with weir._trace.tracing() as t:
        graph = t.finish([rms_norm(*t.arguments([x, w]))])
    plan = weir._C._Plan(graph)
    assert plan.graph.node(0)["attributes"] == "ops=[mul, mean, fused[add, rsqrt], fused[mul, mul]]"
    assert "row_blocks(" in str(plan.graph) and "ops=[mul, mean, " in str(plan.graph)
