"""Both kinds of checkpoints give the gradients that a plain call gives, and refuse what PyTorch's refuse."""

import warnings

import pytest
import torch
import weir
from twins import assert_close

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def net(F):
    F.manual_seed(0)
    return F.nn.Sequential(F.nn.Linear(3, 4), F.nn.Tanh(), F.nn.Dropout(0.5), F.nn.LayerNorm(4), F.nn.Linear(4, 1), F.nn.Sigmoid())


def checkpoint(F, *args, **options):
    return F.utils.checkpoint.checkpoint(*args, **options)


@FRAMEWORKS
@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("early", [True, False])
def test_same_gradients_as_a_plain_call(F, reentrant, early):
    module, x = net(F), F.ones(2, 3, requires_grad=True)

    def gradients(call):
        module.zero_grad()
        x.grad = None
        F.manual_seed(1)
        call(x).sum().backward()
        return [x.grad.clone()] + [p.grad.clone() for p in module.parameters()]

    with F.utils.checkpoint.set_checkpoint_early_stop(early):
        again = gradients(lambda x: checkpoint(F, module, x, use_reentrant=reentrant))
    for a, b in zip(gradients(module), again):
        assert F.equal(a, b)


@FRAMEWORKS
def test_gradients_are_asked_for_by_name_and_twice(F):
    module, x = net(F)[:2], F.linspace(-1, 1, 6).reshape(2, 3).requires_grad_()
    p = list(module.parameters())

    def derivatives(call):
        first = F.autograd.grad(call(x).square().sum(), [x, *p], create_graph=True)
        return [*first, *F.autograd.grad(sum(g.square().sum() for g in first), [x, *p])]
    for a, b in zip(derivatives(module), derivatives(lambda x: checkpoint(F, module, x, use_reentrant=False))):
        assert F.allclose(a, b)
    assert p[0].grad is None  # grad() leaves nothing behind


@FRAMEWORKS
def test_a_graph_that_is_kept_is_gone_through_again(F):
    module, x = net(F)[:2], F.ones(2, 3)
    y = checkpoint(F, module, x, use_reentrant=False).sum()
    first = F.autograd.grad(y, list(module.parameters()), retain_graph=True)
    again = F.autograd.grad(y, list(module.parameters()))
    assert all(F.equal(a, b) for a, b in zip(first, again))
    with pytest.raises(RuntimeError, match="second time"):
        F.autograd.grad(y, list(module.parameters()))


@FRAMEWORKS
def test_nested_calls_keywords_and_containers(F):
    w = F.ones(3, 3, requires_grad=True)

    def inner(x, *, scale):
        return (x @ w).sin() * scale["by"]

    def outer(parts):
        return checkpoint(F, inner, parts["x"].exp(), scale={"by": 2.0}, use_reentrant=False).cos()
    x = F.full((2, 3), 0.1, requires_grad=True)
    plain = F.autograd.grad((((x.exp() @ w).sin() * 2.0).cos()).sum(), [x, w])
    for a, b in zip(plain, F.autograd.grad(checkpoint(F, outer, {"x": x}, use_reentrant=False).sum(), [x, w])):
        assert F.allclose(a, b)


@FRAMEWORKS
def test_recomputing_runs_under_the_same_autocast(F):
    seen, x = [], F.ones(2, 2, requires_grad=True)

    def call(x):
        seen.append(F.is_autocast_enabled("cpu"))
        return (x @ x).float().exp()
    with F.autocast("cpu", dtype=F.bfloat16):
        y = checkpoint(F, call, x, use_reentrant=False)
    y.sum().backward()
    assert seen == [True, True]


@FRAMEWORKS
def test_a_second_run_that_differs_is_an_error(F):
    runs = []

    def call(x):
        runs.append(1)
        return x.exp().sin() if len(runs) == 1 else x[:1].exp().sin()
    y = checkpoint(F, call, F.ones(3, requires_grad=True), use_reentrant=False)
    with pytest.raises(F.utils.checkpoint.CheckpointError, match="different metadata"):
        y.sum().backward()
    runs.clear()
    fewer = checkpoint(F, lambda x: runs.append(1) or (x.exp().sin() if len(runs) == 1 else x.exp()), F.ones(3, requires_grad=True), use_reentrant=False)
    with pytest.raises(F.utils.checkpoint.CheckpointError, match="number of tensors"):
        fewer.sum().backward()


@FRAMEWORKS
def test_scopes_for_both_runs(F):
    import contextlib
    said = []

    @contextlib.contextmanager
    def scope(name):
        said.append(name)
        yield
    y = checkpoint(F, lambda x: x.exp(), F.ones(3, requires_grad=True), use_reentrant=False, context_fn=lambda: (scope("forward"), scope("again")))
    assert said == ["forward"]
    y.sum().backward()
    assert said == ["forward", "again"]


@FRAMEWORKS
@pytest.mark.parametrize("options", [dict(use_reentrant=True, scale=2), dict(use_reentrant=True, debug=True), dict(use_reentrant=False, determinism_check="x")], ids=str)
def test_options_that_do_not_fit(F, options):
    with pytest.raises(ValueError):
        checkpoint(F, F.sin, F.ones(2, requires_grad=True), **options)


@FRAMEWORKS
def test_the_reentrant_kind_needs_an_input_that_requires_grad(F):
    w = F.ones(3, 3, requires_grad=True)
    with pytest.warns(UserWarning, match="None of the inputs"):
        assert not checkpoint(F, lambda x: x @ w, F.ones(2, 3), use_reentrant=True).requires_grad
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(F, F.sin, F.ones(2, requires_grad=True))


def test_sequential_gives_pytorchs_gradients():
    results = []
    for F in (weir, torch):
        module = net(F)
        F.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            F.utils.checkpoint.checkpoint_sequential(module, 2, F.ones(2, 3), use_reentrant=False).sum().backward()
        results.append([p.grad for p in module.parameters()])
    assert_close(*results)
