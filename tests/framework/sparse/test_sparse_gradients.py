"""Gradients through sparse tensors, of sparse leaves, and sparse gradients of tables, against PyTorch."""

import pytest
import weir
from both import coo, same


def leaf(t, kind):
    s = coo(t, kind != "coo")
    return (s.to_sparse_csr() if kind == "csr" else s).detach().requires_grad_()


def weighed(t, r):
    r = r if str(r.layout) == "torch.strided" else r.to_dense()
    (r * t.arange(1., 1 + r.numel()).reshape(r.shape)).sum().backward()


OPS = {
    "dense": lambda t, s: s.to_dense(), "mm": lambda t, s: t.sparse.mm(s, t.arange(6.).reshape(3, 2)), "addmm": lambda t, s: t.sparse.addmm(t.ones(2, 2), s, t.ones(3, 2)),
    "times": lambda t, s: s * 2, "add": lambda t, s: s + s, "abs": lambda t, s: s.abs(), "neg": lambda t, s: -s, "times dense": lambda t, s: s * t.arange(6.).reshape(2, 3),
    "clone": lambda t, s: s.clone(), "double": lambda t, s: s.double(), "to_sparse_csr": lambda t, s: s.to_sparse_csr(),
    "sum": lambda t, s: t.sparse.sum(s), "sum dim": lambda t, s: t.sparse.sum(s, 0), "softmax": lambda t, s: t.sparse.softmax(s, 1), "values": lambda t, s: s.coalesce().values(),
    "log_softmax": lambda t, s: t.sparse.log_softmax(s, 1), "pow": lambda t, s: s**2, "stack": lambda t, s: t.stack([s, s]), "mask": lambda t, s: s.sparse_mask(coo(t, True)),
}


@pytest.mark.parametrize("kind", ["coo", "coalesced", "csr"])
@pytest.mark.parametrize("name", OPS)
def test_gradient_of_a_leaf(name, kind):
    if kind == "csr" and list(OPS).index(name) > 10:
        return  # PyTorch has no such op, or none of its gradient

    def program(t):
        s = leaf(t, kind)
        weighed(t, OPS[name](t, s))
        return s.grad
    same(program)


def test_gradients_of_dense_tensors():
    def program(t):
        results = []
        for f in (lambda x, c: x.to_sparse(), lambda x, c: x.to_sparse_csr(), lambda x, c: x.sparse_mask(c), lambda x, c: x + c, lambda x, c: x.t() @ c,
                  lambda x, c: t.sparse.mm(c, x.t()), lambda x, c: c.to_sparse_csr() @ x.t()):
            x = t.arange(6.).reshape(2, 3).requires_grad_()
            weighed(t, f(x, coo(t, True)))
            results.append(x.grad)
        return results
    same(program)


def test_gradients_reach_the_values():
    def program(t):
        v = t.tensor([3., 4., 5., 6.], requires_grad=True)
        s = t.sparse_coo_tensor([[0, 1, 1, 0], [2, 0, 2, 2]], v, (2, 3))
        weighed(t, t.sparse.mm(s.coalesce(), t.arange(6.).reshape(3, 2)))
        w = t.tensor([1., 2.], requires_grad=True)
        weighed(t, t.sparse_csr_tensor([0, 1, 2], [1, 0], w, (2, 2)) @ t.arange(4.).reshape(2, 2))
        return [v.grad, w.grad, s.is_leaf, s.requires_grad, s.grad]
    same(program)


def test_grad_of_a_sparse_input():
    def program(t):
        s = leaf(t, "coalesced")
        return t.autograd.grad(t.sparse.mm(s, t.ones(3, 2)).sum(), s)
    same(program)


def test_a_sparse_root():
    def program(t):
        s = leaf(t, "coalesced")
        (s * 2).backward(coo(t, True))
        return s.grad
    same(program)


def test_second_derivative_of_a_product():
    v = weir.tensor([1., 2., 3.], dtype=weir.float64, requires_grad=True)
    d = weir.randn(3, 2, dtype=weir.float64, requires_grad=True)

    def product(v, d):
        return weir.sparse.mm(weir.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], v, (2, 3)), d).tanh()
    assert weir.autograd.gradcheck(product, (v, d))
    assert weir.autograd.gradgradcheck(product, (v, d))


def test_a_function_with_sparse_arguments():
    def program(t):
        class Scale(t.autograd.Function):
            @staticmethod
            def forward(ctx, s, d):
                ctx.save_for_backward(s, d)
                return s.to_dense() * d

            @staticmethod
            def backward(ctx, grad):
                s, d = ctx.saved_tensors
                return (grad * d).sparse_mask(s.coalesce()), grad * s.to_dense()
        s, d = leaf(t, "coalesced"), t.arange(6.).reshape(2, 3).requires_grad_()
        weighed(t, Scale.apply(s, d))
        return [s.grad, d.grad]
    same(program)


# ---- tables ----
def table(t, **options):
    t.manual_seed(0)
    return t.nn.Embedding(6, 2, sparse=True, **options), t.tensor([[1, 2], [1, 5]])


def test_embedding():
    def program(t):
        e, x = table(t)
        weighed(t, e(x))
        return e.weight.grad
    same(program)
    same(lambda t: (lambda e, x: [weighed(t, e(x)), e.weight.grad])(*table(t, padding_idx=1)))
    same(lambda t: (lambda e, x: [weighed(t, e(x)), e.weight.grad])(*table(t, scale_grad_by_freq=True)))
    same(lambda t: (lambda e, x: t.autograd.grad(e(x).sum(), e.weight))(*table(t)))


def test_two_look_ups_and_two_steps_add_up():
    def program(t):
        e, x = table(t)
        weighed(t, e(x) + e(x[0]))
        first = e.weight.grad.clone()
        weighed(t, e(x))
        return [first.to_dense(), e.weight.grad.to_dense(), e.weight.grad.is_sparse]
    same(program)


def test_a_table_that_is_used_densely_too():
    def program(t):
        e, x = table(t)
        (e(x).sum() + e.weight.sum()).backward()
        together = e.weight.grad.clone()
        e.zero_grad()
        e(x).sum().backward()
        e.weight.sum().backward()
        e(x).sum().backward()
        return [together, e.weight.grad]
    same(program)


def test_hooks_of_a_table():
    def program(t):
        e, x = table(t)
        seen = []
        hook = e.weight.register_hook(lambda g: (seen.append(str(g.layout)), g * 2)[1])
        e.weight.register_post_accumulate_grad_hook(lambda p: seen.append(str(p.grad.layout)))
        e(x).sum().backward()
        hook.remove()
        e(x).sum().backward()
        return [seen, e.weight.grad.to_dense()]
    same(program)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 1])
def test_embedding_bag(mode, padding_idx):
    def program(t):
        t.manual_seed(0)
        bag = t.nn.EmbeddingBag(6, 2, sparse=True, mode=mode, padding_idx=padding_idx)
        weighed(t, bag(t.tensor([1, 2, 1, 5, 3]), t.tensor([0, 2, 2])))
        return bag.weight.grad.to_dense(), bag.weight.grad.is_sparse
    same(program)


def test_embedding_bag_with_weights():
    def program(t):
        t.manual_seed(0)
        bag = t.nn.EmbeddingBag(6, 2, sparse=True, mode="sum", include_last_offset=True)
        w = t.arange(5.).requires_grad_()
        weighed(t, bag(t.tensor([1, 2, 1, 5, 3]), t.tensor([0, 2, 5]), per_sample_weights=w))
        return bag.weight.grad, w.grad
    same(program)


def test_clearing_gradients():
    def program(t):
        e, x = table(t)
        e(x).sum().backward()
        e.zero_grad(set_to_none=False)
        before, zeroed = e.weight.grad, e.weight.grad.clone()
        e(x).sum().backward()
        return [zeroed, e.weight.grad.to_dense(), before is e.weight.grad]
    same(program)


@pytest.mark.parametrize("clip", ["clip_grad_norm_", "clip_grad_value_"])
def test_clipping_is_refused(clip):
    def program(t):
        e, x = table(t)
        e(x).sum().backward()
        getattr(t.nn.utils, clip)(e.parameters(), 0.1)
    same(program)


def test_grad_scaler():
    def program(t):
        e, x = table(t)
        scaler, optimizer = t.amp.GradScaler("cpu"), t.optim.SGD(e.parameters(), lr=0.1)
        scaler.scale(e(x).sum()).backward()
        scaler.unscale_(optimizer)
        return e.weight.grad
    same(program)


LAYOUTS = {"coo": lambda s: s.to_sparse(), "csr": lambda s: s.to_sparse_csr(), "csc": lambda s: s.to_sparse_csc(), "strided": lambda s: s.to_dense()}


@pytest.mark.parametrize("to", ["coo", "csr", "csc"])
@pytest.mark.parametrize("of", LAYOUTS)
def test_gradients_at_places_in_another_order(of, to):
    def program(t):
        s, g = (t.arange(1. + i, 10. + i).reshape(3, 3) for i in (0, 20))
        x = LAYOUTS[of](s).requires_grad_()
        try:
            y = LAYOUTS[to](x)
        except RuntimeError:
            return []
        return list(t.autograd.grad(y, x, LAYOUTS[to](g)))
    same(program)


@pytest.mark.parametrize("order", ["sds", "dss", "ss", "s"])
def test_sparse_gradients_of_functions(order):
    def program(t):
        class Given(t.autograd.Function):
            @staticmethod
            def forward(ctx, x, grad):
                ctx.save_for_backward(grad)
                return x.clone()

            @staticmethod
            def backward(ctx, _):
                return ctx.saved_tensors[0], None

        sparse = [coo(t, True), t.sparse_coo_tensor([[1, 0], [0, 2]], [7., 8.], (2, 3))]
        x = t.ones(2, 3, requires_grad=True)
        grads = [sparse[i % 2] if c == "s" else t.arange(6.).reshape(2, 3) for i, c in enumerate(order)]
        y = sum(Given.apply(x, g) for g in grads).sum()
        y.backward()
        return [x.grad.to_dense() if x.grad.is_sparse else x.grad, *sparse]
    same(program)
