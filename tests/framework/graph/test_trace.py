"""framework/binding/graph.cpp: traced functions against eager ones: views, in-place writes, constants, aliasing, refusals."""

import pytest
import weir


def traced(function, *args):
    """`function` as a plan, and what the plan gives for `args`."""
    with weir._trace.tracing() as trace:
        out = function(*trace.arguments(args))
        graph = trace.finish(list(out) if isinstance(out, (tuple, list)) else [out])
    graph.check()
    plan = weir._C._Plan(graph)
    result = plan.run(args)
    return plan, result if isinstance(out, (tuple, list)) else result[0]


def check(function, *shapes, runs=3):
    args = [weir.randn(*s) for s in shapes]
    plan, got = traced(function, *args)
    for _ in range(runs):
        expected = function(*(a.clone() for a in args))
        if not isinstance(expected, (tuple, list)):
            expected, got = [expected], [got]
        for e, g in zip(expected, got):
            assert e.dtype == g.dtype and e.stride() == g.stride() and weir.equal(e, g)
        args = [weir.randn(*s) for s in shapes]
        got = plan.run(args)
        got = got if len(expected) > 1 or isinstance(function(*(a.clone() for a in args)), (tuple, list)) else got[0]
    return plan


def into_a_view(x):
    y = x * 2
    y[1].add_(1)
    y[:, 0] = 5
    z = y.t()
    z.mul_(3)
    return y + 1, z


def into_a_constant(x):
    table = weir.tensor([1.0, 2.0, 3.0])
    table[1] = 7
    return x + table


def from_empty(x):
    out = weir.empty(3, 4)
    out[0] = 1
    out[1:].copy_(x[:2])
    return out.sum(0)


def with_out(x):
    y = weir.empty(0)
    weir.mul(x, x, out=y)
    return y.cumsum(1)


def conjugates(x):
    c = weir.complex(x, x + 1).conj()
    return c.real + c.imag, c.resolve_conj()


def chain_of_old_values(x):
    a = x + 1
    b = a * 2
    a.mul_(3)
    return a + b, b


def masked(x):
    return weir.where(x > 0, x, -x), x.masked_fill(x < 0, 0), x.softmax(-1).argmax(-1)


def channels(x):
    y = x.reshape(1, 3, 2, 2).contiguous(memory_format=weir.channels_last)
    return weir.nn.functional.interpolate(y, scale_factor=2), y * 2


@pytest.mark.parametrize("function, shape", [
    (into_a_view, (3, 4)), (into_a_constant, (2, 3)), (from_empty, (3, 4)), (with_out, (3, 4)), (conjugates, (3,)),
    (chain_of_old_values, (4,)), (masked, (5, 5)), (channels, (12,)),
], ids=lambda v: getattr(v, "__name__", ""))
def test_equals_eager(function, shape):
    check(function, shape)


def test_results_survive_the_next_run():
    plan, first = traced(lambda x: x + 1, weir.zeros(3))
    plan.run([weir.ones(3)])
    assert first.tolist() == [1, 1, 1]


def test_writes_into_an_argument_reach_it():
    plan, _ = traced(lambda x: x.mul_(2), weir.ones(3))
    x = weir.ones(3)
    version = x._version
    out, = plan.run([x])
    assert x.tolist() == [2, 2, 2] and out.data_ptr() == x.data_ptr() and x._version > version


def test_an_argument_may_lie_anywhere():
    plan, _ = traced(lambda x: x * 2, weir.arange(12.0)[2:5])
    assert plan.run([weir.arange(12.0)[7:10]])[0].tolist() == [14, 16, 18]


def test_a_plan_takes_what_it_was_made_for():
    plan, _ = traced(lambda x: x * 2, weir.ones(2, 3))
    for bad in ([weir.ones(3, 2)], [weir.ones(2, 3).double()], [weir.ones(3, 2).t()], [], [weir.ones(2, 3)] * 2):
        with pytest.raises(RuntimeError, match="a plan"):
            plan.run(bad)


def test_arguments_that_share_memory():
    def function(a, b):
        a.add_(1)
        return b * 2
    base = weir.zeros(4)
    plan, out = traced(function, base[:3], base[1:])
    expected = function(*((c := weir.zeros(4))[:3], c[1:]))
    assert weir.equal(out, expected)


def test_random_numbers_are_drawn_in_every_run():
    def function(x):
        return x + weir.rand(3), weir.nn.functional.dropout(x, 0.5), weir.randn(2, 2), weir.randperm(5)
    weir.manual_seed(3)
    expected = [function(weir.ones(3)), function(weir.ones(3))]
    x = weir.ones(3)
    with weir._trace.tracing() as trace:
        graph = trace.finish(list(function(*trace.arguments([x]))))
    plan = weir._C._Plan(graph)
    weir.manual_seed(3)
    for want in expected:
        assert all(weir.equal(a, b) for a, b in zip(plan.run([weir.ones(3)]), want))


@pytest.mark.parametrize("read", [
    lambda x: x.item(), lambda x: bool(x), lambda x: x.numpy(), lambda x: x.tolist(), lambda x: repr(x),
    lambda x: x.nonzero(), lambda x: weir.ones(3)[x > 0], lambda x: int(x), lambda x: x.data_ptr(),
    lambda x: weir.unique(x), lambda x: weir.randn(2, generator=weir.Generator()),
    lambda x: weir.manual_seed(3), lambda x: weir.set_rng_state(weir.get_rng_state()),
], ids=range(13))
def test_values_cannot_be_read(read):
    with pytest.raises(RuntimeError, match=r"test_trace\.py:\d+"):
        traced(lambda x: (read(x.sum()), x)[1], weir.ones(3))
    assert not weir._C._is_tracing()


@pytest.mark.parametrize("change", [
    lambda x: x.t_(), lambda x: x.unsqueeze_(0), lambda x: x.resize_(10, 10), lambda x: weir.mul(weir.ones(5, 5), 2, out=x),
    lambda x: x.resize_(1),
], ids=range(5))
def test_arguments_keep_their_shape(change):
    with pytest.raises(RuntimeError, match="another (size|shape)"):
        traced(lambda x: (change(x), x.sum())[1], weir.ones(2, 3))


def test_externals_keep_their_size():
    table = weir.ones(3)
    with pytest.raises(RuntimeError, match="another size"):
        traced(lambda x: x + table.resize_(100)[:3], weir.ones(3))


def test_what_leaks_from_a_trace_has_no_values():
    leaked = []
    traced(lambda x: (leaked.append(x * 2), x)[1], weir.ones(3))
    with pytest.raises(RuntimeError, match="no values"):
        leaked[0].tolist()
    with pytest.raises(RuntimeError, match="no values"):
        leaked[0] + 1


def test_an_external_tensor_is_an_input():
    table = weir.ones(3)
    plan, _ = traced(lambda x: x + table, weir.zeros(3))
    table.fill_(5)
    assert plan.run([weir.zeros(3)])[0].tolist() == [5, 5, 5]


def test_an_argument_that_the_program_holds_too_is_refused_by_name():
    x = weir.ones(3)
    with pytest.raises(weir.nn.graph.Untraceable, match="memory of an argument is reached by another way too"):
        traced(lambda y: x + y, x)
    compiled = weir.compile(lambda y: x + y)
    with pytest.warns(UserWarning):
        assert compiled(x).tolist() == [2, 2, 2]


def test_second_derivatives():
    def function(x):
        x = x.detach().requires_grad_()
        y = (x ** 3).sum()
        g, = weir.autograd.grad(y, x, create_graph=True)
        h, = weir.autograd.grad(g.sum(), x)
        return g.detach(), h
    check(function, (4,))


@pytest.mark.parametrize("function", [lambda x: weir.linspace(x, 1, 3, dtype=weir.uint8), lambda x: weir.ones(3, dtype=weir.uint8).masked_fill(weir.tensor(True), x)])
def test_numbers_that_a_dtype_does_not_hold_raise_in_the_run(function):
    plan, got = traced(function, weir.tensor(5.0))
    assert weir.equal(got, function(weir.tensor(5.0)))
    for run in (function, lambda x: plan.run([x])):
        with pytest.raises(RuntimeError, match="overflow"):
            run(weir.tensor(1e5))


@pytest.mark.parametrize("function, size", [
    (lambda x: weir.nn.functional.grid_sample(x, x.detach()[:, :2, :, :2].permute(0, 2, 3, 1), mode="bicubic", align_corners=True), (2, 3, 4, 5)),
    (lambda x: weir.nn.functional.fractional_max_pool2d(x, 2, output_size=2, _random_samples=weir.full((2, 3, 2), 0.5)), (2, 3, 4, 5))])
def test_gradients_of_an_argument_whose_elements_repeat(function, size):
    x = weir.randn(1, *size[1:]).expand(size)

    def gradient(x):
        x = x.detach().requires_grad_()
        return weir.autograd.grad(function(x).sum(), x)[0]

    expected, (_, got) = gradient(x), traced(gradient, x)
    assert weir.equal(got, expected) and got.stride() == expected.stride() == weir.empty_like(x).stride()


def test_a_count_that_nothing_depends_on_is_still_checked():
    @weir.compile
    def scattered(x, mask, source):
        return x.masked_scatter(mask, source)

    x, none = weir.tensor([1.0, 2.0]), weir.zeros(0)
    assert scattered(x, weir.tensor([False, False]), none).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="at least the number of ones in mask, got 0 and 2"):
        scattered(x, weir.tensor([True, True]), none)
