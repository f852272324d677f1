"""Custom functions and hooks do in weir what they do in PyTorch: what they save, change in place, refuse, and the order of calls."""
import pytest
import torch
import weir


def function(t, forward, backward, name="Own", **more):
    members = {"forward": staticmethod(forward), **{k: staticmethod(f) for k, f in more.items()}}
    if backward is not None:
        members["backward"] = staticmethod(backward)
    return type(name, (t.autograd.Function,), members).apply


def square(t, **more):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2
    return function(t, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0], **more)


def added(t):
    """Adds 1 in place; the gradient is five times too large, to be told from the plain one."""
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)
    return function(t, forward, lambda ctx, g: g * 5)


def leaf(t, *values):
    return t.tensor(values or [1.0, 2.0], requires_grad=True)


def change_of_a_view(t):
    x = leaf(t, 1.0, 2.0, 3.0, 4.0)
    y = x.clone()
    added(t)(y[:2])
    return t.autograd.grad(y.sum(), x)[0], y.detach()


def change_of_all(t):
    x = leaf(t)
    y = x.clone()
    same = added(t)(y) is y
    return t.autograd.grad(y.sum(), x)[0], same


def saved_result(t):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    x = leaf(t)
    y = function(t, forward, lambda ctx, g: g * ctx.saved_tensors[0])(x)
    first, = t.autograd.grad(y.sum(), x, create_graph=True)
    return first, t.autograd.grad(first.sum(), x)[0]


def twice(t):
    y = square(t)(leaf(t))
    y.sum().backward()
    y.sum().backward()


def twice_kept(t):
    x = leaf(t)
    y = square(t)(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return x.grad


def not_returned(t):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1).clone()
    function(t, forward, lambda ctx, g: g)(leaf(t).clone())


def changed_since(t):
    x = leaf(t).clone()
    y = square(t)(x)
    x.add_(1)
    y.sum().backward()


def with_vjp(t, backward=None):
    x = leaf(t)
    return t.autograd.grad(function(t, lambda ctx, x: x * 2, backward, vjp=lambda ctx, g: g * 2)(x).sum(), x)[0]


def through_hooks(t):
    log = []
    with t.autograd.graph.saved_tensors_hooks(lambda x: (log.append("pack"), x)[1], lambda x: (log.append("unpack"), x)[1]):
        y = square(t)(leaf(t))
    y.sum().backward()
    return log


def once(t):
    marked = t.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x, g = leaf(t), leaf(t)
    first, = t.autograd.grad(function(t, lambda ctx, x: x * 2, marked)(x), x, g, create_graph=True)
    assert first.requires_grad
    first.sum().backward()


def order_at_a_leaf(t):
    x = leaf(t)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    x.register_hook(lambda g: g - 2)
    node.register_prehook(lambda g: (g[0] / 5,))
    x.register_post_accumulate_grad_hook(lambda x: x.grad.add_(0.5) and None)
    node.register_hook(lambda gi, go: setattr(x, "grad", go[0] * 10))
    x.sum().backward()
    return x.grad


def hook_of_a_leaf_asked(t):
    x = leaf(t)
    x.register_hook(lambda g: g * 3)
    return t.autograd.grad(x.sum(), x)[0]


def talking_hook(t):
    x = leaf(t)
    x.register_post_accumulate_grad_hook(lambda x: x.grad)
    x.sum().backward()


def edges(t):
    x = leaf(t)
    y = x * 2
    z = y.sum()
    edge = t.autograd.graph.get_gradient_edge
    return [*t.autograd.grad(z, edge(y), retain_graph=True), *t.autograd.grad(edge(z), x, retain_graph=True), *t.autograd.grad(edge(z), edge(x))]


def version(t):
    x = t.ones(2)
    t.autograd.graph.increment_version(x)
    t.autograd.graph.increment_version([x, x])
    return x._version


def set_data(t):
    leaf(t).data = t.tensor(3)


def own_gradient(t):
    x = leaf(t)
    x.grad = x


def view_of_a_leaf(t):
    x = t.ones(2, 3)
    y = x[:]
    x.requires_grad = True
    y.add_(5)


def sibling(t):
    y = leaf(t).clone().unbind(0)[0]
    y.view_as(y).mul_(2)


CASES = {
    "saved of a node": lambda t: square(t)(leaf(t)).grad_fn.saved_tensors[0],
    "changed leaf": lambda t: added(t)(leaf(t)), "changed view of a leaf": lambda t: added(t)(leaf(t)[:1]),
    **{f"changed {name}": lambda t, f=f: added(t)(f(t.ones(4)[:2].requires_grad_())) for name, f in {
        "part that is a leaf": lambda x: x, "view of that": lambda x: x.view(2), "part of that": lambda x: x[:1]}.items()},
    **{f"{given} gradient of {of}": lambda t, given=given, of=of: function(t, lambda ctx, x: x * 2, lambda ctx, g: g.to(getattr(t, given)))(
        t.ones(2, dtype=getattr(t, of), requires_grad=True)).sum().backward() for given in ("complex64", "float64") for of in ("float32", "complex64")},
    "in-place on a part that is a leaf": lambda t: t.ones(4)[:2].requires_grad_().view(2).mul_(2),
    "no backward": lambda t: function(t, lambda ctx, x: x.clone(), None)(leaf(t)).sum().backward(),
    "both": lambda t: with_vjp(t, lambda ctx, g: g), "vjp": with_vjp,
    "saved word": lambda t: function(t, lambda ctx, x: (ctx.save_for_backward("x"), x * 2)[1], lambda ctx, g: g)(leaf(t)),
    **{f.__name__: f for f in (change_of_a_view, change_of_all, saved_result, twice, twice_kept, not_returned, changed_since, through_hooks, once,
                               order_at_a_leaf, hook_of_a_leaf_asked, talking_hook, edges, version, set_data, own_gradient, view_of_a_leaf, sibling)}}


def outcome(case, t):
    """Plain values of what a case gives, or the class of what it raises."""
    def plain(x):
        return x.detach().tolist() if isinstance(x, t.Tensor) else [plain(y) for y in x] if isinstance(x, (tuple, list)) else x
    try:
        return plain(case(t))
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return type(error).__name__


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name):
    assert outcome(CASES[name], weir) == outcome(CASES[name], torch)


def test_a_saved_result_does_not_keep_its_graph_alive():
    import gc
    import weakref

    class Held:
        pass

    def forward(ctx, x):
        ctx.held = held = Held()
        alive.append(weakref.ref(held))
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    alive = []
    y = function(weir, forward, lambda ctx, g: g)(leaf(weir))
    assert alive[0]() is not None
    del y
    gc.collect()
    assert alive[0]() is None


@pytest.mark.parametrize("needed", [True, False])
def test_an_input_handed_back_is_a_view_and_a_dirty_one_counts_a_write(needed):
    seen = []
    for t in (torch, weir):
        class Same(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, dirty):
                if dirty:
                    ctx.mark_dirty(x.mul_(2))
                return x

            @staticmethod
            def backward(ctx, g):
                return g, None

        x = t.ones(2, requires_grad=needed)
        kept, written = x.clone(), x.clone()
        same, changed = Same.apply(kept, False), Same.apply(written, True)
        seen.append((same is kept, same.data_ptr() == kept.data_ptr(), changed is written, written._version, kept._version))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("change", [lambda g: g.sum(), lambda g: g.double()])
def test_a_hook_may_not_change_size_or_type(change):
    for t in (torch, weir):
        x = t.ones(2, requires_grad=True)
        x.register_hook(change)
        with pytest.raises(RuntimeError, match="has changed the"):
            (x * 2).sum().backward()


def pushing(t, dirty=False):
    class Cube(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_forward(x.clone())
            ctx.save_for_backward(x.clone())
            ctx.k = k
            if dirty:
                ctx.mark_dirty(x)
                return x.pow_(3).mul_(k)
            return x ** 3 * k

        @staticmethod
        def backward(ctx, g):
            return ctx.k * 3 * ctx.saved_tensors[0] ** 2 * g, None

        @staticmethod
        def jvp(ctx, tangent, k):
            assert k is None
            (x,) = ctx.saved_tensors
            return tangent.mul_(ctx.k * 3 * x ** 2) if dirty else ctx.k * 3 * x ** 2 * tangent
    return Cube


@pytest.mark.parametrize("dirty", [False, True])
def test_a_function_pushes_tangents_by_its_jvp(dirty):
    found = []
    for t in (torch, weir):
        ad, x = t.autograd.forward_ad, t.tensor([1., 2., 3.])
        with ad.dual_level():
            given = ad.make_dual(x, t.tensor([1., 0., -1.])).clone()
            result = pushing(t, dirty).apply(given, 2)
            assert (result is given) == dirty
            found.append([*ad.unpack_dual(result * 2).tangent.tolist(), *result.tolist()])
    assert found[0] == found[1]


@pytest.mark.parametrize("t", [torch, weir])
def test_forward_mode_needs_a_jvp(t):
    class Plain(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    with t.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="jvp"):
        Plain.apply(t.autograd.forward_ad.make_dual(t.ones(2), t.ones(2)))


@pytest.mark.parametrize("t", [torch, weir])
def test_a_view_changed_in_place_keeps_its_gradient(t):
    class Double(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2
    a = t.ones(3, requires_grad=True)
    Double.apply(a.clone()[:2]).sum().backward()
    assert a.grad.tolist() == [2.0, 2.0, 0.0]


@pytest.mark.parametrize("t", [torch, weir])
def test_setup_context_sees_defaults(t):
    class Power(t.autograd.Function):
        @staticmethod
        def forward(x, p=2):
            return x ** p

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.p = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, g):
            assert ctx.needs_input_grad == (True, False)
            return ctx.p * ctx.saved_tensors[0] * g, None
    x = t.ones(2, requires_grad=True)
    Power.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("others", [0, 1])
def test_an_input_that_is_a_constant_result_comes_back_detached(written, others):
    def answers(t):
        def forward(ctx, a):
            more = [a + 1] * others
            if written:
                a.mul_(2)
                ctx.mark_dirty(a)
            ctx.mark_non_differentiable(a)
            return (a, *more) if others else a

        x = leaf(t)
        given = x * 1
        found = function(t, forward, lambda ctx, *grads: grads[-1] * 3)(given)
        results = found if others else (found,)
        if others:
            results[1].sum().backward()
        shown = [(r.tolist(), r.requires_grad, r.is_leaf, r.data_ptr() == given.data_ptr(), r is given) for r in results]
        return shown, given.tolist(), given.requires_grad, x.grad is None or x.grad.tolist()

    assert answers(weir) == answers(torch)
