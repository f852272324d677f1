"""Gradients of views of one tensor meet in one sum, which a view may write into itself: nobody may see the difference."""
import random

import numpy as np
import pytest
import torch
import weir
from hypothesis import given, settings, strategies as st

VIEWS = {
    "select": lambda x, i: x[i % x.shape[0]],
    "slice": lambda x, i: x[i % 3:],
    "step": lambda x, i: x[:, i % 2::2],
    "column": lambda x, i: x[:, i % x.shape[1]],
    "diagonal": lambda x, i: x.diagonal(i % 2),
    "whole": lambda x, i: x.t(),
    "product": lambda x, i: x * (i + 1),
    "doubled": lambda x, i: x + x,
    "chunk": lambda x, i: x.chunk(2, 1)[i % 2],
}


def gradients(t, program, data, kind):
    """Gradients of the leaf and of a tensor on the way, and what a hook on the latter saw."""
    leaf = t.tensor(data, requires_grad=True)
    x = leaf * 2 if kind != "leaf" else leaf
    seen = []
    if kind == "hook":
        x.register_hook(lambda g: seen.append(g.clone()))
    if kind == "retained":
        x.retain_grad()
    y = sum((VIEWS[name](x, i).square() * (k + 1)).sum() for k, (name, i) in enumerate(program))
    if kind == "captured":
        return [g.detach().numpy() for g in t.autograd.grad(y, (x, leaf))]
    if kind == "again":
        y.backward(retain_graph=True)
    if kind == "further":
        g, = t.autograd.grad(y, leaf, create_graph=True)
        g.pow(3).sum().backward()
        return [g.detach().numpy(), leaf.grad.numpy()]
    y.backward()
    kept = [x.grad] if kind == "retained" else []
    return [g.numpy() for g in (leaf.grad, *seen, *kept)]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(sorted(VIEWS)), st.integers(0, 4)), min_size=1, max_size=8),
       st.sampled_from(["leaf", "inner", "hook", "retained", "captured", "again", "further"]), st.integers(0, 9))
def test_as_pytorch(program, kind, seed):
    data = np.random.default_rng(seed).integers(-4, 5, (4, 6)).astype("float64")
    for ours, theirs in zip(gradients(weir, program, data, kind), gradients(torch, program, data, kind), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_one_gradient_for_two_operands_counts_twice():
    for t in (weir, torch):
        x = t.ones(2, requires_grad=True)
        y = x * 1
        (x + x).backward(t.ones(2))
        (y + y).backward(t.ones(2))
        assert x.grad.tolist() == [4, 4]


def test_a_listener_is_shown_what_the_view_gave():
    seen = {}
    for t in (weir, torch):
        x = t.ones(3, requires_grad=True) * 1
        views = [x[:2], x[1:]]
        seen[t] = []
        views[0].grad_fn.register_hook(lambda inputs, outputs: seen[t].append(inputs[0].tolist()))
        (views[0] * 2 + views[1] * 3).sum().backward()
    assert seen[weir] == seen[torch] == [[2, 2, 0]]


def test_batches_and_forward_mode_go_their_own_way():
    def f(x):
        return (x[0] * x[1:3].sum()).sum() + x[2].square().sum()

    x = np.arange(12.0).reshape(4, 3)
    for name in ("jacrev", "jacfwd", "hessian"):
        ours, theirs = (getattr(t.func, name)(f)(t.tensor(x)).numpy() for t in (weir, torch))
        np.testing.assert_allclose(ours, theirs)
    ours, theirs = (t.func.vmap(t.func.grad(f))(t.tensor(np.stack([x, x + 1]))).numpy() for t in (weir, torch))
    np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("call", [
    lambda t, x, y: t.nn.functional.huber_loss(x, y, delta=0.7), lambda t, x, y: t.nn.functional.smooth_l1_loss(x, y, beta=0.3),
    lambda t, x, y: t.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid()), lambda t, x, y: t.logit(x.sigmoid()),
    lambda t, x, y: t.logit(x.sigmoid(), 0.3), lambda t, x, y: t.nn.functional.threshold(x, 0.25, 9.0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_pass_gives_what_the_ops_of_a_formula_give(call, dtype):
    rng = random.Random(0)
    a, b = ([rng.gauss(0, 1) for _ in range(40)] + special for special in ([0.0, 0.25, float("inf")], [0.0, 0.25, 1.0]))
    g = []
    for further in (False, True):
        x = weir.tensor(a, dtype=getattr(weir, dtype), requires_grad=True)
        y = weir.tensor(b, dtype=getattr(weir, dtype))
        g.append(weir.autograd.grad(call(weir, x, y).sum(), x, create_graph=further)[0].detach().numpy())
    x = torch.tensor(a, dtype=getattr(torch, dtype), requires_grad=True)
    g.append(torch.autograd.grad(call(torch, x, torch.tensor(b, dtype=getattr(torch, dtype))).sum(), x)[0].numpy())
    np.testing.assert_allclose(g[0], g[1], rtol=1e-6)
    np.testing.assert_allclose(g[0], g[2], rtol=1e-5)
