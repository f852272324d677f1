"""The passes, framework/graph/passes.cpp and its files, each seen to do its work and to change no number.

Covers framework/graph/dead_code.cpp, framework/graph/repetition.cpp, framework/graph/constants.cpp, framework/graph/copies.cpp,
framework/graph/buffers.cpp, framework/graph/layouts.cpp, framework/graph/batch_norm.cpp, framework/graph/fusion.cpp, framework/op/fused.cpp and framework/kernels/cpu/fused.cpp.
"""

import pytest
import weir
from weir.nn import functional as F


def trace(function, *args):
    with weir._trace.tracing() as t:
        out = function(*t.arguments(args))
        return t.finish(list(out) if isinstance(out, (tuple, list)) else [out])


def ops(plan):
    return [plan.graph.node(i)["op"] for i in range(len(plan.graph))]


def check(function, *args):
    """The plan with all passes and the one with none agree with eager mode; returns the former."""
    graph = trace(function, *args)
    expected = function(*(a.clone() for a in args))
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    plans = [weir._C._Plan(graph, optimize) for optimize in (True, False)]
    for plan in plans:
        plan.graph.check()
        got = plan.run([a.clone() if a.is_contiguous() else a for a in args])
        for g, e in zip(got, expected, strict=True):
            assert g.dtype == e.dtype and g.stride() == e.stride()
            assert weir.equal(weir.nan_to_num(g), weir.nan_to_num(e))
    return plans[0]


def test_dead_code_goes_and_draws_stay():
    def f(x):
        x.exp().cumsum(0)
        weir.rand(3)
        return x.cumsum(0)
    weir.manual_seed(0)
    plan = weir._C._Plan(trace(f, weir.randn(3)))
    assert ops(plan) == ["uniform", "cumsum"]


def test_checks_of_values_stay():
    plan = weir._C._Plan(trace(lambda p: weir.multinomial(p, 1), weir.ones(4)))
    plan.run([weir.ones(4)])
    with pytest.raises(RuntimeError, match="must not be zero"):
        plan.run([weir.zeros(4)])


def test_repetition_goes():
    plan = check(lambda x: x.cumsum(0).cumsum(1) + x.cumsum(0).cumprod(1), weir.randn(3, 4))
    assert ops(plan).count("cumsum") == 2


def test_equal_results_are_apart():
    plan = check(lambda x: (x.cumsum(0), x.cumsum(0)), weir.randn(3))
    a, b = plan.run([weir.randn(3)])
    assert a.data_ptr() != b.data_ptr()


def test_repetition_respects_writes():
    def f(x):
        y = x * 2
        a = y.cumsum(0)
        y.add_(1)
        return a + y.cumsum(0)
    assert ops(check(f, weir.randn(4))).count("cumsum") == 2


def test_constants_are_folded():
    plan = check(lambda x: x + weir.arange(4).flip(0) * 3, weir.randn(4))
    assert len(plan.graph) == 1


def test_copies_go():
    plan = check(lambda x: x.cumsum(0).clone().cumsum(0), weir.randn(4))
    assert ops(plan) == ["cumsum", "cumsum"]


def test_a_copy_of_what_changes_stays():
    def f(x):
        y = x.cumsum(0)
        z = y.clone()
        y.add_(1)
        return z.cumsum(0) + y
    check(f, weir.randn(4))


@pytest.mark.parametrize("shape", [(7,), (3, 5), (3000,), (64, 33, 5)])
def test_a_chain_becomes_one_node(shape):
    def f(x, y):
        z = (x * 2 + y).relu()
        return (z.sigmoid() - x).tanh() * 0.5 + z.exp()
    assert ops(check(f, weir.randn(shape), weir.randn(shape))) == ["fused"]


def test_layouts_broadcasts_and_numbers():
    def f(x, row, column, number):
        return (x * row + column) * number - row
    for x in (weir.randn(33, 65), weir.randn(65, 33).t(), weir.randn(66, 130)[::2, ::2]):
        assert ops(check(f, x, weir.randn(65), weir.randn(33, 1), weir.randn(())))[-1] == "fused"


@pytest.mark.parametrize("shape", [(700, 300), (3, 7, 2, 150), (2000, 8), (1500, 7), (9, 3001), (50, 20, 1)], ids=str)
@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16, weir.float64])
def test_rows_and_columns(shape, dtype):
    """A number for each row, and the same row for all, in one chain: of rows of any length, and beside another dtype."""
    def f(x, row, column, planes):
        y = (x * row + column).to(dtype) * 2 - row.to(dtype)
        return y, (y.float() + planes) * column, row + column
    for axis in range(1, len(shape)):
        row, column = weir.randn(shape[axis:]), weir.randn(*shape[:axis], *[1] * (len(shape) - axis))
        check(f, weir.randn(shape), row, column, weir.randn(shape[0], *[1] * (len(shape) - 1)))


def test_channels_last():
    x = weir.randn(2, 8, 5, 5).contiguous(memory_format=weir.channels_last)
    assert ops(check(lambda x, s: (x * s).relu() + x, x, weir.randn(8, 1, 1))) == ["fused"]


def test_several_dtypes_round_as_eager():
    def f(x, y):
        z = (x.bfloat16() * y.bfloat16() + 1).float() - x
        return z.half().exp(), z > 0, z.double() + x
    assert ops(check(f, weir.randn(1500), weir.randn(1500))) == ["fused"]


@pytest.mark.parametrize("dtype", [weir.bfloat16, weir.float16])
def test_halves_between_steps_round_as_eager(dtype):
    x = weir.cat([weir.randn(3000), weir.tensor([float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 3.3e38, 65520.0, 1e-40, 6e-8])]).to(dtype)

    def f(x):
        y = (x * 1.1 + x).abs() * 3.3 - 0.3  # handed on
        z = y.float() * 0.7                   # a conversion of what was handed on, and one of a number's result
        return weir.where(y > x, y.neg(), z.to(dtype)), y.double(), y.sqrt().to(weir.bool)
    assert ops(check(f, x)) == ["fused"]


@pytest.mark.parametrize("count", [5 << 20, (5 << 20) + 77])
def test_large_results_leave_past_the_caches(count):
    """Results of the last step, of one in the middle that is read again, and of a conversion."""
    def f(x, row):
        y = x * 2 + row
        z = (y - 0.5).relu() * y
        return y, z.abs(), z.bfloat16().float()
    x = weir.rand(count)
    assert ops(check(f, x, weir.rand(1))) == ["fused"]
    assert ops(check(lambda x: x.abs(), x)) == ["abs"]
    assert ops(check(lambda x: weir.relu(x - 1).to(weir.float64), x)) == ["fused"]


def test_what_is_needed_outside_comes_out():
    def f(x):
        y = x * 2
        z = y + 1
        return y, z.cumsum(0), z * y
    check(f, weir.randn(20))


def test_in_place_chains_fuse():
    def f(x):
        y = x * 2
        y.add_(1).relu_()
        return y.mul_(y).cumsum(0)
    assert ops(check(f, weir.randn(9))) == ["fused", "cumsum"]


def test_a_reader_between_keeps_nodes_apart():
    def f(x):
        y = x * 2
        s = y.sum()
        return (y + s) * 3
    check(f, weir.randn(9))


def test_integers_are_left_alone():
    def f(x):
        return (x + 1) * 2
    check(f, weir.arange(10))


def test_conditions():
    def f(x, y):
        return weir.where(x > y, x * 2, y) + (x > 0).float()
    check(f, weir.randn(100), weir.randn(100))


def test_special_numbers():
    x = weir.tensor([float("inf"), -float("inf"), float("nan"), 0.0, -0.0, 1e38, -1e-40])
    check(lambda x: (x * 2 - x).exp() + x.sqrt(), x)


def test_training_step_with_all_passes():
    w = weir.randn(6, 6)

    def f(x):
        p = w.clone().requires_grad_()
        loss = (F.gelu(x @ p) * x.sigmoid()).pow(2).mean()
        g, = weir.autograd.grad(loss, p)
        return loss.detach(), g
    check(f, weir.randn(6, 6))


@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16, weir.float64])
@pytest.mark.parametrize("layout", [weir.contiguous_format, weir.channels_last])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_takes_relu_and_sum(dtype, layout, training):
    def make():
        weir.manual_seed(0)
        x, y = (weir.randn(3, 5, 4, 4).to(dtype).contiguous(memory_format=layout) for _ in range(2))
        held = weir.float64 if dtype == weir.float64 else weir.float32
        return x, y, *(t.to(held) for t in (weir.randn(5), weir.randn(5), weir.zeros(5), weir.ones(5)))

    def f(x, y, w, b, mean, var):
        a = F.relu(F.batch_norm(x, mean, var, w, b, training))
        return F.relu(F.batch_norm(a, mean, var, w, b, training) + y), F.relu(y + F.batch_norm(y, mean, var, w, b, training), inplace=True)
    plan = weir._C._Plan(trace(f, *make()))
    plan.graph.check()
    assert ops(plan) == ["batch_norm_relu"] * 3
    mine, theirs = make(), make()
    for a, b in zip(plan.run(list(mine)) + list(mine), f(*theirs) + theirs):
        assert weir.equal(a, b) and a.stride() == b.stride()


@pytest.mark.parametrize("dtype", [weir.float32, weir.bfloat16])
def test_gradients_of_pictures_lie_as_the_pictures(dtype):
    """The gradient of an average is row-major, and so is in eager mode what is added to it."""
    def f(x, w):
        first = x = x.detach().requires_grad_()
        for _ in range(3):
            x = F.relu(F.conv2d(F.relu(F.batch_norm(x, None, None, training=True)), w) + x)
        loss = F.adaptive_avg_pool2d(F.relu(F.batch_norm(x, None, None, training=True) + x), 1).float().square().sum()
        return weir.autograd.grad(loss, first)
    args = (weir.randn(4, 32, 6, 6).to(dtype).contiguous(memory_format=weir.channels_last), (weir.randn(32, 32, 1, 1) / 8).to(dtype))
    plan = check(f, *args)
    lines = [line.split(" = ")[0] for line in str(plan.graph).splitlines() if "= relu_backward" in line or "= fused" in line]
    assert len(lines) > 3 and sum("strides [1152, 1, 192, 32]" in line for line in lines) >= len(lines) - 1


def test_what_adds_up_in_the_order_of_memory_keeps_a_layout():
    last = weir.randn(2, 3, 4, 5).contiguous(memory_format=weir.channels_last)
    check(lambda x, y, z: (((x + y) * z).sum(), (x - y) @ z.mT), weir.randn(2, 3, 4, 5), last, last * 2)


def test_what_else_reads_a_batch_norm_keeps_it():
    def f(x):
        y = F.batch_norm(x, None, None, training=True)
        return F.relu(y) + y
    assert "batch_norm_forward" in ops(check(f, weir.randn(4, 3, 2)))


def test_running_statistics_are_written_once_per_call():
    def f(x, mean):
        F.batch_norm(x, mean, weir.ones(3), training=True)
        kept = mean.clone()
        F.batch_norm(x, mean, weir.ones(3), training=True)
        return kept, mean * 1
    x, mean = weir.randn(4, 3), weir.zeros(3)
    plan = weir._C._Plan(trace(f, x, mean))
    again = mean.clone()
    got = plan.run([x, mean])
    for a, b in zip(got, f(x, again)):
        assert weir.equal(a, b)
    assert weir.equal(mean, again) and not weir.equal(got[0], got[1])


def test_an_op_in_place_takes_over_its_first_input_only():
    """scatter_add reads index and source after it has begun to write: no result of its lies over them, though they die there."""
    def program(t):
        index = weir.where(t < 0, 0, t)
        source = (t >= 0).long()
        return weir.zeros_like(t).scatter_add(1, index, source) > 0
    t = weir.tensor([[1, 2, -1, 0], [0, -1, 1, 1], [3, 2, -1, 1]])
    check(program, t)
    check(lambda t: (t * 1).scatter_add(1, t * 1, t * 1), weir.tensor([[1, 1, 0], [2, 2, 2]]))
    check(lambda x: F.multilabel_margin_loss(x, t), weir.randn(3, 4))


def test_a_weight_is_cast_once_for_all_of_its_uses():
    """Without gradients autocast casts it anew for each, and a view of it always."""
    w = weir.randn(30, 30)

    def f(x):
        with weir.autocast("cpu", dtype=weir.bfloat16):
            return F.linear(F.linear(F.linear(x, w), w), w.t().t())
    plan = check(f, weir.randn(5, 30))
    assert ops(plan).count("to_dtype") == 2 and ops(plan).count("linear") == 3
