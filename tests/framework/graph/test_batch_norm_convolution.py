"""Batch norm beside 1 x 1 convolutions: framework/graph/batch_norm_convolution.cpp, framework/ops/batch_norm_convolution.h and
framework/kernels/cpu/positive_bits.h. Joined ops give the bits of those that they stand for."""

from pathlib import Path

import pytest
import weir
from weir import nn
from weir.nn import functional as F

from tests.framework.graph.test_batch_norm import SPECIAL, assert_same, hidden, ops, planned

TILES = "amx_bf16" in Path("/proc/cpuinfo").read_text()
needs_tiles = pytest.mark.skipif(not TILES, reason="a CPU without tiles of bfloat16, whose kernels gain nothing by it")
DTYPES = [weir.float32, weir.float64, weir.bfloat16, weir.float16]
LAYOUTS = [weir.contiguous_format, weir.channels_last]
# n, channels of what is normalised, channels of what is convolved, places: those of tiles and others, where all lie in one line and where some are over.
SIZES = [(3, 64, 96, (17, 19)), (2, 256, 64, (23, 9)), (1, 32, 32, (64, 65)), (5, 96, 32, (33, 30)), (2, 20, 12, (5, 6)), (2, 64, 32, (1, 1)), (0, 64, 32, (4, 4)), (2, 65, 64, (30, 31))]


def laid(t, dtype, layout):
    return t.to(dtype).contiguous(memory_format=layout)


def parts(n, channels, outputs, size, dtype=weir.bfloat16, layout=weir.channels_last, special=False):
    """What batch norm saw and what is added; its weight, bias, mean and 1 / deviation; and a kernel to `outputs` channels."""
    weir.manual_seed(0)
    x, other = weir.randn(n, channels, *size), weir.randn(n, channels, *size)
    if special and x.numel() >= 20 * len(SPECIAL):
        x.view(-1)[::17][:len(SPECIAL)] = weir.tensor(SPECIAL)
        other.view(-1)[::19][:len(SPECIAL)] = -weir.tensor(SPECIAL)
        x.view(-1)[3] = weir.tensor(float("nan")).neg()
    held = weir.float64 if dtype == weir.float64 else weir.float32
    norm = [t.to(held) for t in (weir.randn(channels), weir.randn(channels), weir.randn(channels), weir.rand(channels) + 0.5)]
    kernel = weir.randn(outputs, channels, 1, 1) * 0.1
    return laid(x, dtype, layout), laid(other, dtype, layout), norm, kernel.to(dtype)


def with_threads(threads, f):
    before = weir.get_num_threads()
    weir.set_num_threads(threads)
    try:
        return f()
    finally:
        weir.set_num_threads(before)


def bits_of(y):
    """As batch_norm_apply_positive gives them, of a tensor in the order of its memory."""
    line = weir.as_strided(y, (y.numel(),), (1,)).double()
    passes = (~(line <= 0)).to(weir.int64)
    passes = weir.cat([passes, weir.zeros(-len(passes) % 8, dtype=weir.int64)])
    return (passes.view(-1, 8) << weir.arange(8)).sum(1).to(weir.uint8)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_bits_say_what_relu_lets_through(size, dtype, layout):
    x, other, norm, _ = parts(*size, dtype=dtype, layout=layout, special=True)
    for added in (None, other):
        expected = hidden["batch_norm_apply"](x, *norm, added, None, None, None, None, True)
        y, positive = hidden["batch_norm_apply_positive"](x, *norm, added, None, None, None, None)
        assert_same([y], [expected])
        assert weir.equal(positive, bits_of(y))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("threads", [1, 2])
def test_statistics_are_those_of_the_convolution(size, dtype, layout, threads):
    x, other, norm, kernel = parts(*size, dtype=dtype, layout=layout)
    held, outputs = norm[0].dtype, len(kernel)

    def running():
        return weir.zeros(outputs, dtype=held), weir.ones(outputs, dtype=held)

    def apart():
        tracked = running()
        y = hidden["batch_norm_apply"](x, *norm, other, None, None, None, None, True)
        convolved = hidden["convolution"](y, kernel, None, [1, 1], [0, 0], [1, 1], 1)
        return y, bits_of(y), convolved, *hidden["batch_norm_statistics"](convolved, *tracked, 0.1, 1e-5), *tracked

    def together():
        tracked = running()
        return *hidden["batch_norm_convolution_statistics"](x, *norm, other, None, None, None, None, kernel, *tracked, 0.1, 1e-5), *tracked

    def convolved_alone(y):
        tracked = running()
        return *hidden["convolution_batch_norm_statistics"](y, kernel, *tracked, 0.1, 1e-5), *tracked

    y, bits, *expected = with_threads(threads, apart)
    assert_same(with_threads(threads, together), [y, bits, *expected])
    assert_same(with_threads(threads, lambda: convolved_alone(y)), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("step, by_bits", [([], False), ([2, 2], True), ([1, 3], False)], ids=str)
def test_gradients_are_those_of_its_parts(size, dtype, layout, step, by_bits):
    n, channels, outputs, places = size
    x, other, (w, _, mean, invstd), kernel = parts(*size, dtype=dtype, layout=layout)
    if step:
        other = other[:, :, ::step[0], ::step[1]].contiguous(memory_format=layout)
    y = laid(weir.randn(n, channels, *places).relu(), dtype, layout)
    dy = laid(weir.randn(n, outputs, *places), dtype, layout)
    inner = laid(weir.randn(n, 32, *places), dtype, layout)
    before = (weir.randn(channels, 32, 1, 1) * 0.1).to(dtype)

    gradient = hidden["convolution_input"](dy, kernel, None, list(x.shape), [1, 1], [0, 0], [1, 1], 1)
    dz, dx, dw, db = hidden["batch_norm_sum_relu_backward"](gradient, other, y, x, mean, invstd, w, True, 1e-5, step)
    through = hidden["convolution_gradients"](inner, dx, before, [1, 1], [0, 0], [1, 1], 1)

    through_relu = bits_of(weir.empty_strided(dz.shape, dz.stride(), dtype=dtype).copy_(y)) if by_bits else y
    given = dy, kernel, other, through_relu, x, mean, invstd, w
    assert_same(hidden["convolution_sum_relu_batch_norm_backward"](*given, True, 1e-5, step), [dz, dx, dw, db])
    assert_same(hidden["batch_norm_sum_relu_backward"](gradient, other, through_relu, x, mean, invstd, w, True, 1e-5, step), [dz, dx, dw, db])
    sums, coefficients, *rest = hidden["convolution_sum_relu_batch_norm_sums"](*given, 1e-5, step)
    assert_same([sums, *rest], [dz, dw, db])
    assert_same(hidden["batch_norm_convolution_gradients"](inner, sums, x, coefficients, before), through)


def test_in_evaluation_the_gradient_passes_as_it_is():
    x, other, (w, _, mean, invstd), kernel = parts(2, 64, 32, (30, 31))
    y, dy = x.relu(), laid(weir.randn(2, 32, 30, 31), x.dtype, weir.channels_last)
    gradient = hidden["convolution_input"](dy, kernel, None, list(x.shape), [1, 1], [0, 0], [1, 1], 1)
    expected = hidden["batch_norm_sum_relu_backward"](gradient, other, y, x, mean, invstd, w, False, 1e-5, [])
    assert_same(hidden["convolution_sum_relu_batch_norm_backward"](dy, kernel, other, y, x, mean, invstd, w, False, 1e-5, []), expected)


def test_what_does_not_fit_is_refused():
    x, other, (w, b, mean, invstd), kernel = parts(2, 64, 32, (6, 5))
    dy, y = weir.randn(2, 32, 6, 5).to(x.dtype), x.relu()
    wide = weir.randn(32, 64, 3, 3).to(x.dtype)
    sums = hidden["convolution_sum_relu_batch_norm_sums"]
    with pytest.raises(RuntimeError, match="convolution_batch_norm_statistics: expected pictures and a kernel of single places"):
        hidden["convolution_batch_norm_statistics"](x, wide, None, None, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match="expected pictures and a kernel of single places"):
        sums(dy, wide, other, y, x, mean, invstd, w, 1e-5, [])
    with pytest.raises(RuntimeError, match="expected a gradient of sizes"):
        sums(dy[:, :, 1:], kernel, other, y, x, mean, invstd, w, 1e-5, [])
    with pytest.raises(RuntimeError, match="expected bits of 480 bytes, got .4"):
        sums(dy, kernel, other, weir.zeros(479, dtype=weir.uint8), x, mean, invstd, w, 1e-5, [])
    with pytest.raises(RuntimeError, match="expected float64 coefficients of sizes"):
        hidden["batch_norm_convolution_gradients"](weir.randn(2, 8, 6, 5).to(x.dtype), x, x, weir.zeros(3, 63, dtype=weir.float64), weir.randn(64, 8, 1, 1).to(x.dtype))
    with pytest.raises(RuntimeError, match="expected two tensors of one dtype and shape"):
        hidden["batch_norm_convolution_gradients"](weir.randn(2, 8, 6, 5).to(x.dtype), x, x.float(), weir.zeros(3, 64, dtype=weir.float64), weir.randn(64, 8, 1, 1).to(x.dtype))


class Bottlenecks(nn.Module):
    """A stem and three bottlenecks, the last of which may have strides, as ResNets have them."""

    def __init__(self, stride=1):
        super().__init__()
        def bottleneck(inputs, width, outputs, stride):
            return nn.Sequential(nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                 nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.stem = nn.Sequential(nn.Conv2d(16, 256, 1, bias=False), nn.BatchNorm2d(256), nn.ReLU())
        self.first, self.second, self.third = bottleneck(256, 64, 256, 1), bottleneck(256, 64, 256, 1), bottleneck(256, 128, 512, stride)
        self.beside = nn.Sequential(nn.Conv2d(256, 512, 1, stride, bias=False), nn.BatchNorm2d(512))

    def forward(self, x):
        x = self.stem(x)
        x = F.relu(self.first(x) + x)
        x = F.relu(self.second(x) + x)
        return F.relu(self.third(x) + self.beside(x))


def trained(stride, as_graph, size=(8, 16, 32, 32)):
    """What two steps leave of a model, and the ops of its plan."""
    weir.manual_seed(0)
    model = Bottlenecks(stride).to(memory_format=weir.channels_last)
    optimizer = weir.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batch = weir.randn(size).contiguous(memory_format=weir.channels_last)

    def loss_of(x):
        with weir.autocast("cpu", dtype=weir.bfloat16):
            return model(x).float().square().mean()

    class Step(nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model
            self.add_optimizer(optimizer)

        def build(self, x):
            loss = loss_of(x)
            loss.backward()
            return loss

    graph = Step() if as_graph else None
    losses = []
    for _ in range(2):
        if as_graph:
            losses.append(graph(batch))
        else:
            optimizer.zero_grad()
            losses.append(loss_of(batch))
            losses[-1].backward()
            optimizer.step()
    made = ops(graph.plans[0]) if as_graph else []
    return [t.detach() for t in losses] + [t.detach() for t in model.state_dict().values()], made


@needs_tiles
@pytest.mark.parametrize("stride", [1, 2])
def test_bottlenecks_train_as_in_eager_mode(stride):
    got, made = trained(stride, True)
    expected, _ = trained(stride, False)
    assert_same(got, expected)
    assert made.count("batch_norm_convolution_statistics") >= 4 and made.count("convolution_sum_relu_batch_norm_sums") == 2
    assert made.count("batch_norm_convolution_gradients") == 2


def two_branches(x, w, b, mean, var, dy):
    """Twice a batch norm, what is added to it, and ReLU, as blocks follow each other."""
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    y = F.relu(F.batch_norm(x, mean, var, w, b, True) + x)
    z = F.relu(F.batch_norm(y, mean, var, w, b, True) + y)
    return weir.autograd.grad((z.sin(), z.abs()), (x, w, b), (dy, dy))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16])
@pytest.mark.parametrize("size", [(8, 32, 64, 65), (2, 32, 9, 9)], ids=str)
def test_the_gradient_of_a_large_relu_reads_bits(size, dtype, layout):
    def make():
        weir.manual_seed(0)
        x, dy = (laid(weir.randn(size), dtype, layout) for _ in range(2))
        return x, weir.randn(32), weir.randn(32), weir.zeros(32), weir.ones(32), dy
    made = ops(planned(two_branches, make))
    assert made.count("batch_norm_sum_relu_backward") == 2
    assert made.count("batch_norm_apply_positive") == made.count("batch_norm_statistics") == (2 if size[0] == 8 else 0)


@needs_tiles
def test_little_work_stays_apart():
    _, made = trained(1, True, (2, 16, 8, 8))
    assert not [op for op in made if "convolution" in op and "batch_norm" in op]


def chain(x, kernel, w, b, mean, var):
    """Batch norm and ReLU behind a convolution."""
    y = F.conv2d(x, kernel)
    return F.relu(F.batch_norm(y, mean, var, w, b, True))


def given(outputs=256):
    weir.manual_seed(0)
    x = laid(weir.randn(8, 64, 33, 32), weir.bfloat16, weir.channels_last)
    return x, (weir.randn(outputs, 64, 1, 1) * 0.1).to(x.dtype), weir.randn(outputs), weir.randn(outputs), weir.zeros(outputs), weir.ones(outputs)


@needs_tiles
def test_a_batch_norm_sums_what_is_convolved():
    assert ops(planned(lambda *args: (chain(*args),), given)) == ["convolution_batch_norm_statistics", "batch_norm_apply"]


@needs_tiles
def test_one_of_two_batch_norms_sums_what_both_read():
    def f(x, kernel, w, b, mean, var):
        y = F.conv2d(x, kernel)
        return F.relu(F.batch_norm(y, mean, var, w, b, True)), F.relu(F.batch_norm(y, None, None, b, w, True))
    made = ops(planned(f, given))
    assert made.count("convolution_batch_norm_statistics") == 1 and "convolution" not in made


@needs_tiles
@pytest.mark.parametrize("kept", ["shown", "written", "statistics read", "gaps", "bias", "stride"])
def test_what_else_happens_keeps_them_apart(kept):
    def f(x, kernel, w, b, mean, var):
        if kept == "shown":
            y = F.conv2d(x, kernel)
            return y, F.relu(F.batch_norm(y, mean, var, w, b, True))
        if kept == "written":
            y = F.conv2d(x, kernel)
            y.mul_(2)
            return F.relu(F.batch_norm(y, mean, var, w, b, True)), mean * 1
        if kept == "statistics read":
            y = F.conv2d(x, kernel)
            old = mean + 1
            return F.relu(F.batch_norm(y, mean, var, w, b, True)), old
        if kept == "gaps":
            wide = [weir.stack([t, t], -1)[:, 0] for t in (mean, var)]
            return (F.relu(F.batch_norm(F.conv2d(x, kernel), *wide, w, b, True)),)
        y = F.conv2d(x, kernel, b.to(x.dtype) if kept == "bias" else None, stride=2 if kept == "stride" else 1)
        return (F.relu(F.batch_norm(y, mean, var, w, b, True)),)
    made = ops(planned(f, given))
    assert ("convolution_batch_norm_statistics" in made) == (kept == "shown")


@needs_tiles
@pytest.mark.parametrize("first", ["convolution", "other"])
def test_what_is_normalised_is_convolved_by_who_reads_it_first(first):
    def f(x, kernel, w, b, mean, var):
        y = chain(x, kernel, w, b, mean, var)
        twice = y.sin() if first == "other" else None
        z = F.relu(F.batch_norm(F.conv2d(y, kernel.reshape(64, 256, 1, 1)), None, None, training=True))
        return z, y.sin() if first == "convolution" else twice
    made = ops(planned(f, given))
    assert ("batch_norm_convolution_statistics" in made) == (first == "convolution")
