"""Gradients of batch norm in graphs, framework/graph/batch_norm.cpp and framework/kernels/cpu/batch_norm.h: fused ones give eager mode's bits."""

import pytest
import weir
from weir import nn
from weir.nn import functional as F

LAYOUTS = [weir.contiguous_format, weir.channels_last]
DTYPES = [weir.float32, weir.float64, weir.bfloat16, weir.float16]
SPECIAL = [float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 1e-41, -6e-8, 3e-8]
hidden = weir._C.ops["hidden"]


def bits(t):
    """The numbers as they lie in memory, every NaN as the same one."""
    if not t.is_floating_point():
        return t
    whole = {2: weir.int16, 4: weir.int32, 8: weir.int64}[t.element_size()]
    return weir.where(t.isnan(), weir.full_like(t, float("nan")), t).contiguous().view(whole)


def assert_same(got, expected):
    for g, e in zip(got, expected, strict=True):
        assert g.dtype == e.dtype and g.shape == e.shape and g.stride() == e.stride()
        assert weir.equal(bits(g), bits(e))


def ops(plan):
    return [plan.graph.node(i)["op"] for i in range(len(plan.graph))]


def planned(function, make):
    """The plan of `function` on what `make` gives. Its results, and what it leaves in its arguments, are those of eager mode."""
    mine, theirs = make(), make()
    with weir._trace.tracing() as t:
        graph = t.finish(list(function(*t.arguments(mine))))
    plan = weir._C._Plan(graph)
    plan.graph.check()
    got = plan.run(list(mine))
    assert_same([*got, *mine], [*function(*theirs), *theirs])
    return plan


def arguments(shape=(3, 5, 6, 7), dtype=weir.float32, layout=weir.contiguous_format, special=False):
    """Input, weight, bias, running mean and variance, and the gradient of the result."""
    weir.manual_seed(0)
    c = shape[1]
    held = weir.float64 if dtype == weir.float64 else weir.float32
    x, dy = weir.randn(shape), weir.randn(shape)
    if special:  # in one channel of x, which has NaN for statistics, and everywhere in dy
        x[:, 1].flatten()[:len(SPECIAL)] = weir.tensor(SPECIAL)
        x[0, 1, :1] = weir.tensor(SPECIAL[0])
        x[:, 2] = 0.5
        dy.view(-1)[::11] = weir.tensor(SPECIAL).repeat(dy.numel())[:len(range(0, dy.numel(), 11))]
    x, dy = (t.to(dtype) for t in (x, dy))
    if len(shape) == 4:
        x, dy = (t.contiguous(memory_format=layout) for t in (x, dy))
    w, b = weir.randn(c), weir.randn(c)
    if special:
        b[0] = float("inf")
        w[3], b[3], w[4], b[4] = 1e-40, 0, 3e-8, 0  # results of which bfloat16 and float16 store some as zeros
    return x, *(t.to(held) for t in (w, b, weir.zeros(c), weir.ones(c))), dy


def normalised(x, w, b, mean, var, dy, training=True):
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    y = F.relu(F.batch_norm(x, mean, var, w, b, training))
    return weir.autograd.grad(y, (x, w, b), dy)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 6, 7), (2, 64, 9, 9), (5, 300, 2, 3), (1, 5, 40, 40), (2, 5, 2, 2)], ids=str)
def test_relu_backward_joins_that_of_batch_norm(shape, dtype, layout, special):
    assert ops(planned(normalised, lambda: arguments(shape, dtype, layout, special))) == ["batch_norm_relu", "batch_norm_relu_backward"]


@pytest.mark.parametrize("shape", [(40, 6), (9, 6, 11), (2, 6, 3, 4, 5)], ids=str)
def test_other_ranks(shape):
    assert "batch_norm_relu_backward" in ops(planned(normalised, lambda: arguments(shape)))


def test_evaluation_stays_apart():
    """Its gradient takes the running statistics in float32, its result in float64."""
    made = ops(planned(lambda *args: normalised(*args, training=False), lambda: arguments()))
    assert "batch_norm_relu_backward" not in made and "batch_norm_backward" in made


def test_without_weights():
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        return weir.autograd.grad(F.relu(F.batch_norm(x, None, None, training=True)), x, dy)
    assert "batch_norm_relu_backward" in ops(planned(f, arguments))


def test_what_else_reads_the_result_may():
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        y = F.relu(F.batch_norm(x, mean, var, w, b, True))
        dx, = weir.autograd.grad(y, x, dy)
        return y, y * 2, dx
    assert "batch_norm_relu_backward" in ops(planned(f, arguments))


def test_what_else_reads_the_gradient_keeps_it():
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        norm = F.batch_norm(x, mean, var, w, b, True)
        return weir.autograd.grad(F.relu(norm), (norm, x), dy)
    assert "batch_norm_relu_backward" not in ops(planned(f, arguments))


def test_an_addition_between_them_keeps_them_apart():
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        y = F.relu(F.batch_norm(x, mean, var, w, b, True) + dy)
        return weir.autograd.grad(y, x, dy)
    assert "batch_norm_relu_backward" not in ops(planned(f, arguments))


def test_a_bias_that_is_written_in_between():
    def f(x, w, b, mean, var, dy):
        x, w = (t.clone().requires_grad_() for t in (x, w))
        y = F.relu(F.batch_norm(x, mean, var, w, b, True))
        b.add_(1)
        return weir.autograd.grad(y, (x, w), dy)
    assert "batch_norm_relu_backward" not in ops(planned(f, arguments))


def test_running_statistics_with_gaps_round_otherwise():
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        return weir.autograd.grad(F.relu(F.batch_norm(x, mean[::2], var[::2], w, b, True)), x, dy)

    def make():
        x, w, b, mean, var, dy = arguments()
        return x, w, b, mean.repeat(2), var.repeat(2), dy
    assert "batch_norm_relu_backward" not in ops(planned(f, make))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 6, 7), (2, 5, 2, 2)], ids=str)
@pytest.mark.parametrize("order", ["alike", "gradient", "input", "gaps", "weights with gaps"])
def test_the_op_in_any_layout(shape, dtype, order):
    x, w, b, mean, var, dy = arguments(shape, dtype, special=True)
    if order == "gradient":
        dy = dy.contiguous(memory_format=weir.channels_last)
    if order == "input":
        x = x.contiguous(memory_format=weir.channels_last)
    if order == "gaps":
        x = weir.stack([x, x], -1)[..., 0]
    if order == "weights with gaps":
        w, b = (weir.stack([t, t], -1)[:, 0] for t in (w, b))
    y, mean, invstd = hidden["batch_norm_relu"](x, w, b, mean, var, *[None] * 5, True, 0.1, 1e-5)
    masked = hidden["relu_backward"](dy, y)
    masked = weir.empty_strided(dy.shape, dy.stride(), dtype=dtype).copy_(masked)
    expected = hidden["batch_norm_backward"](masked, x, mean, invstd, w, True, 1e-5)
    assert_same(hidden["batch_norm_relu_backward"](dy, x, mean, invstd, w, b, 1e-5), expected)


def added(x, w, b, mean, var, dy, training=True):
    """Two batch norms of which the sum goes through ReLU, to two readers."""
    x, v, w, b = (t.clone().requires_grad_() for t in (x, x, w, b))
    y = F.relu(F.batch_norm(x, mean, var, w, b, training) + F.batch_norm(v, mean, var, w, b, training))
    return weir.autograd.grad((y.sin(), y.abs()), (x, v, w, b), (dy, dy.flip(0)))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 6, 7), (2, 64, 9, 9), (5, 300, 2, 3), (1, 5, 40, 40), (2, 5, 2, 2)], ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_the_first_batch_norm_makes_a_sum_of_gradients(shape, dtype, layout, special, training):
    made = ops(planned(lambda *args: added(*args, training=training), lambda: arguments(shape, dtype, layout, special)))
    assert made.count("batch_norm_sum_relu_backward") == 1 and made.count("batch_norm_backward") == 1 and "relu_backward" not in made


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_that_is_read_before_is_made_alone(dtype):
    def f(x, w, b, mean, var, dy):
        x, other = (t.clone().requires_grad_() for t in (x, dy))
        y = F.relu(F.batch_norm(x, mean, var, w, b, True) + other.exp())
        return weir.autograd.grad((y.sin(), y.abs()), (other, x), (dy, dy))
    assert "batch_norm_sum_relu_backward" not in ops(planned(f, lambda: arguments(dtype=dtype)))


def test_a_sum_that_nobody_else_reads():
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        y = F.relu(F.batch_norm(x, mean, var, w, b, True) + dy)
        return weir.autograd.grad((y.sin(), y.abs()), x, (dy, dy))
    assert "batch_norm_sum_relu_backward" in ops(planned(f, lambda: arguments(dtype=weir.bfloat16)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_sum_in_another_order_of_memory_is_made_alone(dtype):
    def f(x, w, b, mean, var, dy):
        x = x.clone().requires_grad_()
        y = F.relu(F.batch_norm(x, mean, var, w, b, True) + dy)
        last = dy.contiguous(memory_format=weir.channels_last)
        return weir.autograd.grad((y.sin(), y * last), x, (last, last))
    assert "batch_norm_sum_relu_backward" not in ops(planned(f, lambda: arguments(dtype=dtype)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["alike", "gradient", "other", "output", "input"])
def test_the_op_of_a_sum_in_any_layout(dtype, order):
    x, w, b, mean, var, dy = arguments(dtype=dtype, special=True)
    parts = {"gradient": dy, "other": dy.flip(2), "output": dy.flip(3).relu(), "input": x}
    if order in parts:
        parts[order] = parts[order].contiguous(memory_format=weir.channels_last)
    masked = hidden["relu_backward"](parts["gradient"] + parts["other"], parts["output"])
    got = hidden["batch_norm_sum_relu_backward"](*parts.values(), mean, var, w, True, 1e-5, [])
    masked = weir.empty_like(got[0]).copy_(masked)
    expected = hidden["batch_norm_backward"](masked, x, mean, var, w, True, 1e-5)
    assert_same([t.contiguous() for t in got], [masked.contiguous(), *(t.contiguous() for t in expected)])


def both_normalised(x, w, b, mean, var, dy):
    """Two batch norms of which the sum goes through ReLU."""
    return F.relu(F.batch_norm(x, mean, var, w, b, True) + F.batch_norm(dy, mean.clone(), var.clone(), b, w, True))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5, 6, 7), (2, 64, 9, 9), (5, 300, 2, 3), (1, 5, 40, 40), (2, 5, 2, 2), (40, 6)], ids=str)
def test_two_batch_norms_are_added_in_one_pass(shape, dtype, layout, special):
    made = ops(planned(both_normalised, lambda: arguments(shape, dtype, layout, special and len(shape) == 4)))
    assert made.count("batch_norm_statistics") == made.count("batch_norm_relu") == 1 and "batch_norm_forward" not in made


@pytest.mark.parametrize("kept", ["read", "evaluation", "gaps", "written"])
def test_a_batch_norm_that_is_made_before_it_is_added(kept):
    def f(x, w, b, mean, var, dy):
        scale = weir.stack([w, w], -1)[:, 0] if kept == "gaps" else w
        first = F.batch_norm(dy, mean.clone(), var.clone(), scale, b, kept != "evaluation")
        if kept == "written":
            w.add_(1)
        y = F.relu(F.batch_norm(x, mean, var, w, b, True) + first)
        return (y, first) if kept == "read" else y,
    f_ = (lambda *args: f(*args)[0]) if kept == "read" else f
    assert "batch_norm_forward" in ops(planned(f_, arguments))


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["alike", "input", "other"])
def test_the_op_of_two_in_any_layout(dtype, order, gaps):
    x, w, b, mean, var, other = arguments(dtype=dtype, special=True)
    v, c = b.flip(0), w.flip(0)
    if order == "input":
        x = x.contiguous(memory_format=weir.channels_last)
    if order == "other":
        other = other.contiguous(memory_format=weir.channels_last)
    if gaps:
        v, c = (weir.stack([t, t], -1)[:, 0] for t in (v, c))
    m, s = hidden["batch_norm_statistics"](other, mean.clone(), var.clone(), 0.1, 1e-5)
    second = hidden["batch_norm_apply"](other, v, c, m, s, *[None] * 5, False)
    got = hidden["batch_norm_relu"](x, w, b, mean.clone(), var.clone(), other, m, s, v, c, True, 0.1, 1e-5)
    expected = hidden["batch_norm_relu"](x, w, b, mean.clone(), var.clone(), second, *[None] * 4, True, 0.1, 1e-5)
    assert_same(got, expected)
    assert_same([hidden["batch_norm_apply"](x, w, b, *got[1:], other, m, s, v, c, True)], expected[:1])


@pytest.mark.parametrize("other, message", [
    ((None, 1, 1, None, None), "come with other"), ((0, 1, None, None, None), "come with other"), ((0, None, None, 1, None), "come with other"), ((0, 1, 2, None, None), "other_invstd should contain 5"),
], ids=str)
def test_statistics_without_what_they_are_of_are_refused(other, message):
    x, w, b, mean, var, dy = arguments()
    given = [None if k is None else (dy, mean, mean[:4])[k] for k in other]
    with pytest.raises(RuntimeError, match=message):
        hidden["batch_norm_relu"](x, w, b, mean, var, *given, True, 0.1, 1e-5)


def test_the_op_refuses_what_does_not_fit():
    x, w, b, mean, var, dy = arguments()
    op = hidden["batch_norm_relu_backward"]
    with pytest.raises(RuntimeError, match="expected a gradient of input's shape and dtype"):
        op(dy[:1], x, mean, var, w, b, 1e-5)
    with pytest.raises(RuntimeError, match="bias should contain 5 elements not 4"):
        op(dy, x, mean, var, w, b[:4], 1e-5)


class Block(nn.Module):
    """A residual block, as ResNet50's."""

    def __init__(self, channels, inner, down):
        super().__init__()
        self.a, self.an = nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.b, self.bn = nn.Conv2d(inner, inner, 3, padding=1, bias=False), nn.BatchNorm2d(inner)
        self.c, self.cn = nn.Conv2d(inner, channels, 1, bias=False), nn.BatchNorm2d(channels)
        self.down = nn.Sequential(nn.Conv2d(channels, channels, 1, bias=False), nn.BatchNorm2d(channels)) if down else nn.Identity()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.an(self.a(x)))
        y = self.relu(self.bn(self.b(y)))
        return self.relu(self.cn(self.c(y)) + self.down(x))


class Train(nn.Graph):
    def __init__(self, model, optimizer):
        super().__init__()
        self.model = model
        self.add_optimizer(optimizer)

    def build(self, x, y):
        loss = F.cross_entropy(self.model(x).float(), y)
        loss.backward()
        return loss


def trained_alike(make, size, dtype, layout):
    """The plan that trains a model for three steps on pictures of four examples, as eager mode trains another."""
    eager, traced = make(), make()
    a, b = (weir.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (eager, traced))
    graph = Train(traced, b)
    for _ in range(3):
        x, y = weir.randn(4, 3, size, size).to(dtype=dtype, memory_format=layout), weir.randint(0, 5, (4,))
        a.zero_grad()
        loss = F.cross_entropy(eager(x).float(), y)
        loss.backward()
        a.step()
        assert_same([graph(x, y)], [loss.detach()])
    assert_same([*traced.parameters(), *traced.buffers()], [*eager.parameters(), *eager.buffers()])
    return graph.plans[0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16])
def test_residual_blocks_train_as_in_eager_mode(dtype, layout):
    def make():
        weir.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 16, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), Block(16, 8, True), Block(16, 8, False), Block(16, 8, True),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5)).to(dtype=dtype, memory_format=layout)
    made = ops(trained_alike(make, 10, dtype, layout))
    assert made.count("batch_norm_relu_backward") == 7 and made.count("batch_norm_sum_relu_backward") == 2


def downsampled(x, w, b, mean, var, dy, kernel=1, stride=2, padding=0):
    """A residual sum that a convolution with strides and another op read."""
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    y = F.relu(F.batch_norm(x, mean, var, w, b, True) + dy)
    weight = weir.arange(6 * y.shape[1] * kernel * kernel).sin().view(6, y.shape[1], kernel, kernel)
    down = F.conv2d(y, weight.to(y.dtype), stride=stride, padding=padding)
    return weir.autograd.grad((down, y.sin()), (x, w, b), (down.detach().cos(), dy))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("stride", [2, (1, 2), (3, 1)], ids=str)
@pytest.mark.parametrize("shape", [(3, 5, 6, 7), (2, 64, 9, 9), (5, 300, 2, 3), (1, 5, 40, 40)], ids=str)
def test_a_gradient_with_gaps_is_summed_without_them(shape, stride, dtype, special):
    plan = planned(lambda *args: downsampled(*args, stride=stride), lambda: arguments(shape, dtype, weir.channels_last, special))
    conv, = (n for n in map(plan.graph.node, range(len(plan.graph))) if n["op"] == "convolution_input")
    assert "stride=[1, 1]" in conv["attributes"] and "batch_norm_sum_relu_backward" in ops(plan)


@pytest.mark.parametrize("given", [{"kernel": 3}, {"padding": 1}, {"stride": 1}], ids=str)
def test_other_gradients_keep_their_places(given):
    plan = planned(lambda *args: downsampled(*args, **given), lambda: arguments(layout=weir.channels_last))
    assert "batch_norm_sum_relu_backward" in ops(plan) and "step=[]" in str(plan.graph)


def test_in_row_major_memory_they_do_too():
    assert "step=[]" in str(planned(downsampled, arguments).graph)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape, step", [((3, 5, 6, 7), (2, 3)), ((3, 5, 6, 7), (1, 1)), ((2, 6, 11), (4,)), ((2, 6, 3, 4, 5), (2, 1, 3))], ids=str)
def test_the_op_of_steps_in_any_layout(shape, step, layout):
    x, w, b, mean, var, dy = arguments(shape, special=True)
    where = (slice(None), slice(None), *(slice(None, None, s) for s in step))
    other = weir.zeros_like(dy)
    other[where] = dy.flip(0)[where]
    if len(shape) == 4:
        x, dy, other = (t.contiguous(memory_format=layout) for t in (x, dy, other))
    op = hidden["batch_norm_sum_relu_backward"]
    assert_same(op(dy, other[where], x.relu(), x, mean, var, w, True, 1e-5, list(step)), op(dy, other, x.relu(), x, mean, var, w, True, 1e-5, []))


@pytest.mark.parametrize("step, size, message", [([2], 3, "a step for each axis"), ([2, 0], 3, "steps above 0"), ([2, 2], 3, "or of steps in it"), ([], 5, "or of steps in it")])
def test_steps_that_do_not_fit_are_refused(step, size, message):
    x, w, b, mean, var, dy = arguments()
    with pytest.raises(RuntimeError, match=message):
        hidden["batch_norm_sum_relu_backward"](dy, dy[:, :, :size, :size], x, x, mean, var, w, True, 1e-5, step)
