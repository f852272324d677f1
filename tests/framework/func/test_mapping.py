"""`func.vmap` against PyTorch's, with gradients inside and outside of it."""

import pytest
import torch
import weir


def numbers(t, *shape):
    n = 1
    for s in shape:
        n *= s
    return ((t.arange(float(n)) * 7919 % 101 - 50) / 37).reshape(shape)


def norm(t, x):
    return t.nn.functional.layer_norm(x, (4,), numbers(t, 4), numbers(t, 4))


def in_place(t, x):
    y = t.zeros_like(x)
    y[1:].add_(x[:-1])
    y.mul_(2)
    return y


def attention(t, q, k, v):
    return t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def picture_net(t, w, x):
    h = t.nn.functional.conv2d(x[None], w, padding=1).relu()
    return t.nn.functional.max_pool2d(h, 2).mean((2, 3)).logsumexp(1).sum()


def loss(t, w, b, x, y):
    return t.nn.functional.cross_entropy((w @ x.tanh() + b)[None], y[None])


PROGRAMS = {
    "views": lambda t: t.func.vmap(lambda x: x.transpose(0, 1)[1:, ::2].unsqueeze(1).expand(-1, 3, -1).reshape(-1, 2))(numbers(t, 5, 4, 3)),
    "windows": lambda t: t.func.vmap(lambda x: (x.unfold(0, 3, 1), x.diagonal(), x.movedim(0, 1).flatten()))(numbers(t, 2, 4, 4)),
    "inner axes": lambda t: t.func.vmap(lambda x, y: (x * y, x @ y), in_dims=(1, 2), out_dims=(1, -1))(numbers(t, 4, 5, 4), numbers(t, 4, 4, 5)),
    "promotion": lambda t: t.func.vmap(lambda x, n: (x.sum() + n, x * n, n / 2))(numbers(t, 3, 4), t.arange(3)),
    "numbers": lambda t: t.func.vmap(lambda x: (x.double() + t.ones(3), x + 1.5, x.to(t.int64) * 2))(numbers(t, 3)),
    "reductions": lambda t: t.func.vmap(lambda x: (x.sum(), x.mean(-1), x.amax(0), x.var(1), x.argmax(), x.max(0)[1], x.norm(), x.prod(1)))(numbers(t, 3, 4, 5)),
    "lines": lambda t: t.func.vmap(lambda x: (x.softmax(0), x.cumsum(-1), x.sort(1, descending=True), x.flip(0), x.roll(1, 0)))(numbers(t, 3, 4, 5)),
    "layer norm": lambda t: t.func.vmap(lambda x: norm(t, x))(numbers(t, 3, 2, 4)),
    "gradients of one line's weights": lambda t: t.func.vmap(t.func.grad(lambda w, b, x: t.nn.functional.layer_norm(x, (2, 4), w, b).square().sum(), argnums=(0, 1, 2)),
                                                             in_dims=(None, None, 0))(numbers(t, 2, 4), numbers(t, 2, 4), numbers(t, 3, 2, 4)),
    "products": lambda t: t.func.vmap(lambda a, b, v: (a @ b, a @ v, v @ v, t.outer(v, v), t.einsum("ij,j->i", a, v)))(
        numbers(t, 3, 4, 4), numbers(t, 3, 4, 4), numbers(t, 3, 4)),
    "shared factors": lambda t: t.func.vmap(lambda x: (x @ numbers(t, 4, 5), numbers(t, 3, 2) @ x, t.nn.functional.linear(x, numbers(t, 6, 4))))(numbers(t, 7, 2, 4)),
    "batches of products": lambda t: t.func.vmap(lambda a, b: t.bmm(a, b))(numbers(t, 2, 3, 4, 5), numbers(t, 2, 3, 5, 4)),
    "linear algebra": lambda t: t.func.vmap(lambda a: (t.linalg.inv(a), t.linalg.det(a), t.linalg.solve(a, a[0])))(numbers(t, 3, 4, 4) + 5 * t.eye(4)),
    "convolution": lambda t: t.func.vmap(lambda x, w: t.nn.functional.conv2d(x, w, padding=1), in_dims=(0, None))(numbers(t, 3, 2, 4, 6, 6), numbers(t, 5, 4, 3, 3)),
    "own weights": lambda t: t.func.vmap(lambda x, w: t.nn.functional.conv2d(x, w, stride=2))(numbers(t, 3, 2, 4, 6, 6), numbers(t, 3, 5, 4, 3, 3)),
    "attention": lambda t: t.func.vmap(lambda q: attention(t, q, q * 2, q + 1))(numbers(t, 3, 2, 2, 5, 4)),
    "indices": lambda t: t.func.vmap(lambda x, i: (x[i], x[:, i[0]], x.gather(0, i[None]), x.index_select(0, i), x.index_select(1, t.tensor([1, 0]))))(
        numbers(t, 3, 4, 4), t.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 0, 0]])),
    "scatters": lambda t: t.func.vmap(lambda x, i: (x.scatter(0, i, x * 2), x.index_add(0, i, x), x.scatter_add(0, i, x)))(
        numbers(t, 3, 4), t.tensor([[0, 1, 2, 3], [3, 2, 1, 0], [1, 1, 0, 0]])),
    "embeddings": lambda t: t.func.vmap(lambda i: t.nn.functional.embedding(i, numbers(t, 6, 3)))(t.tensor([[0, 5], [2, 3]])),
    "choices": lambda t: t.func.vmap(lambda x: (t.where(x > 0, x, -x), x.clamp(-1, 1), x.masked_fill(x > 0.5, 0.0)))(numbers(t, 3, 5)),
    "in place": lambda t: t.func.vmap(lambda x: in_place(t, x))(numbers(t, 3, 5)),
    "lists": lambda t: t.func.vmap(lambda x: t.cat([x, x * 2, t.zeros(2)]).chunk(2))(numbers(t, 3, 4)),
    "complex": lambda t: t.view_as_real(t.func.vmap(lambda x: (x.conj() * x[0]).cumsum(0))(t.view_as_complex(numbers(t, 3, 4, 2)))),
    "nested": lambda t: t.func.vmap(lambda x: t.func.vmap(lambda y: (x * y).sum(0) + y.sort()[0], out_dims=1)(numbers(t, 2, 3)))(numbers(t, 4, 3)),
    "across": lambda t: t.func.vmap(t.func.vmap(lambda x, y: (x - y).square().sum(), in_dims=(None, 0)), in_dims=(0, None))(numbers(t, 4, 3), numbers(t, 5, 3)),
    "constant": lambda t: t.func.vmap(lambda x: t.ones(2))(numbers(t, 3)),
    "trees": lambda t: t.func.vmap(lambda d, n: {"a": d["x"] * n, "b": [d["y"]]}, in_dims=({"x": 0, "y": 1}, None))({"x": numbers(t, 3), "y": numbers(t, 2, 3)}, 4),
    "chunks": lambda t: t.func.vmap(lambda x, y: (x * 2, y), in_dims=(1, 0), out_dims=(1, 0), chunk_size=2)(numbers(t, 2, 5), numbers(t, 5)),
    "gradients of examples": lambda t: t.func.vmap(t.func.grad(lambda w, b, x, y: loss(t, w, b, x, y), argnums=(0, 1)), in_dims=(None, None, 0, 0))(
        numbers(t, 3, 4), numbers(t, 3), numbers(t, 6, 4), t.tensor([0, 1, 2, 0, 1, 2])),
    "gradients of pictures": lambda t: t.func.vmap(t.func.grad(lambda w, x: picture_net(t, w, x)), in_dims=(None, 0))(numbers(t, 3, 2, 3, 3), numbers(t, 4, 2, 6, 6)),
    "gradient of a batch": lambda t: t.func.grad(lambda w: t.func.vmap(lambda x: (w * x).tanh().sum() + w.sum())(numbers(t, 4, 3)).square().sum())(numbers(t, 3)),
    "gradient of gradients": lambda t: t.func.grad(lambda w: t.func.vmap(t.func.grad(lambda x: (w * x).sin().prod()))(numbers(t, 4, 3)).square().sum())(numbers(t, 3)),
    "gradient of shared gradients": lambda t: t.func.grad(lambda w: t.func.vmap(t.func.grad(lambda v, x: (v * x).sin().prod()), in_dims=(None, 0))(
        w, numbers(t, 4, 3)).square().sum())(numbers(t, 3)),
    "tangents": lambda t: t.func.vmap(lambda v: t.func.jvp(lambda x: x.sin() * x.sum(), (numbers(t, 3),), (v,)))(t.eye(3)),
    "jacobians": lambda t: (t.func.jacrev(lambda x: x.outer(x).tanh())(numbers(t, 3)), t.func.jacfwd(lambda x: x.outer(x).tanh())(numbers(t, 3))),
    "jacobians of examples": lambda t: t.func.vmap(t.func.jacrev(lambda x: x.softmax(0)))(numbers(t, 4, 3)),
    "jacobians of parts": lambda t: t.func.jacfwd(lambda a, b: (a * b.sum(), {"c": a.exp()}), argnums=(0, 1))(numbers(t, 3), numbers(t, 2)),
    "hessian": lambda t: t.func.hessian(lambda x: (x.sin() * x.prod()).sum())(numbers(t, 4) + 2),
    "hessians of examples": lambda t: t.func.vmap(t.func.hessian(lambda x: x.prod() + x.exp().sum()))(numbers(t, 3, 4)),
}


def leaves(t, tree):
    return t.utils._pytree.tree_leaves(tree)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_pytorchs(name):
    theirs, ours = leaves(torch, PROGRAMS[name](torch)), leaves(weir, PROGRAMS[name](weir))
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours):
        assert str(a.dtype).split(".")[1] == str(b.dtype).split(".")[1] and tuple(a.shape) == tuple(b.shape)
        torch.testing.assert_close(torch.from_numpy(b.detach().numpy()), a.detach().resolve_conj(), rtol=1e-4, atol=1e-5)


def test_leaves_outside_get_the_sum_of_gradients():
    found = []
    for t in (torch, weir):
        w, x = numbers(t, 3).requires_grad_(), numbers(t, 4, 3).requires_grad_()
        t.func.vmap(lambda row: (row * w).sin().sum() * 2)(x).sum().backward()
        found.append([w.grad.tolist(), x.grad.tolist()])
    for theirs, ours in zip(*found):
        assert ours == pytest.approx(theirs, rel=1e-5) if not isinstance(theirs[0], list) else all(a == pytest.approx(b, rel=1e-5) for a, b in zip(ours, theirs))


def test_writes_reach_the_memory_of_the_batch():
    for t in (torch, weir):
        x = t.zeros(3, 2)
        t.func.vmap(lambda row: row.add_(1))(x)
        t.func.vmap(lambda column: column[1:].mul_(2), in_dims=1)(x)
        assert x.tolist() == [[1, 1], [2, 2], [2, 2]]


@pytest.mark.parametrize("call", [
    lambda t, x: t.func.vmap(lambda r: r.sum().item())(x), lambda t, x: t.func.vmap(lambda r: r if r.sum() > 0 else -r)(x),
    lambda t, x: t.func.vmap(lambda r: r.nonzero())(x), lambda t, x: t.func.vmap(lambda r: r[r > 0])(x),
    lambda t, x: [t.func.vmap(lambda r: y.add_(r))(x) for y in (t.zeros(2),)], lambda t, x: t.func.vmap(lambda r: r + t.rand(2))(x),
    lambda t, x: t.func.vmap(lambda r: t.nn.functional.dropout(r))(x)])
def test_what_would_differ_between_examples_is_refused(call):
    for t in (torch, weir):
        with pytest.raises(RuntimeError, match="vmap|broadcast shape"):
            call(t, t.ones(3, 2))


def test_memory_made_within_is_each_examples_own():
    def running(x):
        total, kept = weir.zeros(2), weir.zeros(3, 2)
        for i in range(3):
            total += x * i
            kept[i] = total
        return total, kept
    x = weir.arange(8.0).reshape(4, 2)
    total, kept = weir.func.vmap(running)(x)
    assert weir.equal(total, x * 3) and weir.equal(kept, weir.stack([x * 0, x, x * 3], 1))


def test_values_are_not_there():
    for t in (torch, weir):
        seen = []
        t.func.vmap(lambda r: seen.append((repr(r), r.shape, r.dim(), r.requires_grad)) or r)(t.ones(3, 2))
        assert seen[0][0].startswith("BatchedTensor(lvl=") and "value=" in seen[0][0] and seen[0][1:] == ((2,), 1, False)


def test_randomness_is_as_told():
    for t in (torch, weir):
        t.manual_seed(0)
        x = t.zeros(5, 64)
        for draw in (lambda r: r + t.rand(64), lambda r: t.nn.functional.dropout(r + 1), lambda r: r + t.randint(0, 1000, (64,)), lambda r: t.rand_like(r)):
            differ = t.func.vmap(draw, randomness="different")(x)
            assert all(not t.equal(differ[i], differ[j]) for i in range(5) for j in range(i))
            same = t.func.vmap(draw, randomness="same")(x)
            assert all(t.equal(same[0], row) for row in same)


def test_levels_end_with_their_functions():
    kept = []
    weir.func.vmap(lambda r: kept.append(r * 2) or r)(weir.ones(3, 2))
    with pytest.raises(ValueError, match="must only return Tensors"):
        weir.func.vmap(lambda r: 3)(weir.ones(3))
    assert weir.rand(2).shape == (2,) and weir.func.debug_unwrap(kept[0]).tolist() == [[2, 2]] * 3
    with pytest.raises(RuntimeError, match="vmap"):
        kept[0].tolist()


def own_functions(t):
    class Through(t.autograd.Function):
        """Values by way of NumPy, which no tensor of a batch has: it says itself what it makes of one."""

        @staticmethod
        def forward(x, n):
            return t.from_numpy(x.detach().numpy() ** n)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, dy):
            x, = ctx.saved_tensors
            return dy * ctx.n * x ** (ctx.n - 1), None

        @staticmethod
        def vmap(info, in_dims, x, n):
            assert (info.batch_size, info.randomness, in_dims) == (4, "error", (0, None))
            return Through.apply(x, n), 0

    class Scaled(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(w, x):
            return w * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, dy):
            w, x = ctx.saved_tensors
            return dy * x, dy * w
    return Through, Scaled


def test_functions_of_ones_own():
    found = []
    for t in (torch, weir):
        through, scaled = own_functions(t)
        x, w = numbers(t, 4, 3), numbers(t, 3)
        found.append([t.func.vmap(t.func.grad(lambda r, f=through: f.apply(r, 3).sum()))(x),
                      t.func.grad(lambda w, f=scaled, x=x, t=t: t.func.vmap(lambda r: f.apply(w, r))(x).square().sum())(w),
                      t.func.vmap(t.func.grad(lambda w, r, f=scaled: f.apply(w, r).square().sum()), in_dims=(None, 0))(w, x)])
    for theirs, ours in zip(*found):
        torch.testing.assert_close(torch.from_numpy(ours.numpy()), theirs)


DRAWS = {
    "rand": lambda t, x: t.rand(3, 4) + 0 * x,
    "randn": lambda t, x: t.randn(5),
    "randint": lambda t, x: t.randint(0, 99, (7,)),
    "like": lambda t, x: t.randn_like(x),
    "in place": lambda t, x: t.zeros_like(x).exponential_(),
    "bernoulli": lambda t, x: t.bernoulli(x.sigmoid()),
    "normal": lambda t, x: t.normal(x, 1.0),
    "multinomial": lambda t, x: t.multinomial(x.sigmoid(), 2),
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.4),
    "whole channels": lambda t, x: t.nn.functional.dropout1d(x.expand(6, 4, 4), 0.4),
}


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("name", DRAWS)
def test_examples_draw_pytorchs_numbers(name, randomness):
    answers = []
    for t in (torch, weir):
        t.manual_seed(3)
        try:
            answers.append(t.func.vmap(lambda x, t=t: DRAWS[name](t, x), randomness=randomness)(numbers(t, 5, 4)))
        except RuntimeError:
            answers.append(None)
    theirs, ours = answers
    if theirs is not None:  # it refuses the same numbers for examples whose probabilities differ
        torch.testing.assert_close(torch.tensor(ours.tolist()), theirs)


def test_numbers_of_chunks_are_those_of_the_whole():
    found = []
    for chunk in (None, 2):
        weir.manual_seed(0)
        found.append(weir.func.vmap(lambda x: x + weir.rand(3), randomness="same", chunk_size=chunk)(weir.zeros(5, 3)).tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("t", [torch, weir])
def test_a_shared_tensor_cannot_be_filled_with_other_numbers_each(t):
    shared = t.ones(3)
    with pytest.raises(RuntimeError, match="different inplace randomness"):
        t.func.vmap(lambda x: shared.uniform_() + x, randomness="different")(t.ones(2, 3))


def test_a_checkpoint_computes_the_batch_again():
    found = []
    for t in (torch, weir):
        x = numbers(t, 3, 2, 2).requires_grad_()
        loss = t.utils.checkpoint.checkpoint(lambda a, t=t: t.func.vmap(lambda m: (m @ m).tanh().sum())(a).pow(2).sum(), x, use_reentrant=False)
        loss.backward()
        found.append(x.grad.tolist())
    assert torch.allclose(torch.tensor(found[0]), torch.tensor(found[1]), atol=1e-5)


@pytest.mark.parametrize("t", [torch, weir])
def test_results_that_are_no_tensors_are_passed_on(t):
    shown = t.func.vmap(lambda x: (x, "all", None), out_dims=(0, None, None))(t.ones(2))
    assert shown[1:] == ("all", None)
    assert t.func.vmap(lambda x: x, out_dims=(1,))(t.ones(2, 3)).shape == (3, 2)
    assert t.func.vmap(lambda x: t.nn.functional.one_hot(x, 4))(t.tensor([[0, 3]])).shape == (1, 2, 4)


def test_nothing_is_computed_for_many_examples_of_nothing():
    many = weir.zeros(0, 3).expand(2**40, 0, 3)
    for f in (lambda x: x + weir.tensor(2j), lambda x: weir.nn.functional.poisson_nll_loss(x, weir.tensor(1.5), reduction="none"), lambda x: x * weir.ones(3)):
        assert weir.func.vmap(f)(many).shape == (2**40, 0, 3)


def test_keyword_arguments_are_passed_whole():
    def mapped(t, **options):
        return t.vmap(lambda x, y=None: x + y, **options)(t.ones(3), y=t.arange(3.0)).tolist()
    for options in ({}, {"chunk_size": 2}):
        assert mapped(weir, **options) == mapped(torch, **options)


@pytest.mark.parametrize("call", [
    lambda t: t.vmap(lambda x: (x, x), out_dims=(0,))(t.ones(3)), lambda t: t.vmap(lambda x: x)(), lambda t: t.vmap(lambda x: x)([]),
    lambda t: t.vmap(lambda x, y: x, in_dims=(0,))(t.ones(3), t.ones(3)), lambda t: t.vmap(lambda x: x, in_dims=(0.5,))(t.ones(3)),
    lambda t: t.vmap(lambda x: x)(3), lambda t: t.vmap(lambda x: x, in_dims=2)(t.ones(3)), lambda t: t.vmap(lambda x, y: x)(t.ones(3), t.ones(4)),
    lambda t: t.vmap(lambda x: x, in_dims=(None,))(t.ones(3)), lambda t: t.vmap(lambda x: x, in_dims=[0])(t.ones(3)),
    lambda t: t.vmap(lambda x: [x, x], chunk_size=2, out_dims=(1, 0))(t.ones(3, 2)), lambda t: t.vmap(lambda x: x, out_dims=None)(t.ones(3)),
    lambda t: t.vmap(lambda x: 3)(t.ones(3)), lambda t: t.vmap(lambda x: x, out_dims="a")(t.ones(3))])
def test_refusals(call):
    def raised(t):
        with pytest.raises(Exception) as e:
            call(t)
        return type(e.value), str(e.value)
    assert raised(weir) == raised(torch)


def test_steps_can_be_replaced(monkeypatch):
    """As tensordict does, for arguments that hold tensors."""
    def mapped(t):
        steps, seen = __import__(f"{t.__name__}._functorch.vmap", fromlist=["x"]), []
        for name in ("_process_batched_inputs", "_create_batched_inputs", "_unwrap_batched"):
            own = getattr(steps, name)
            monkeypatch.setattr(steps, name, lambda *args, own=own, name=name: (seen.append((name, len(args))), own(*args))[1])
        return seen, t.vmap(lambda x: x * 2)(t.arange(3.0)).tolist()
    assert mapped(weir) == mapped(torch)


def test_levels_by_hand():
    """As tensordict enters and leaves them."""
    def outside(t):
        functorch = __import__(f"{t.__name__}._C._functorch", fromlist=["x"]) if t is weir else t._C._functorch
        level = functorch._vmap_increment_nesting(2, "error")
        try:
            x = functorch._add_batch_dim(t.arange(6.0).reshape(2, 3), 0, level)
            inside = tuple(x.shape), functorch.is_batchedtensor(x), t._C._are_functorch_transforms_active(), functorch.maybe_get_level(x) == level
            return inside, functorch._remove_batch_dim(x * 2, level, 2, 1).tolist(), functorch._remove_batch_dim(t.ones(1), level, 2, 0).tolist()
        finally:
            functorch._vmap_decrement_nesting()
    assert outside(weir) == outside(torch)
    assert not weir._C._are_functorch_transforms_active()
