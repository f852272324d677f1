"""Steps with differentiable=True: gradients of what was before through one to three steps, against PyTorch."""

import pytest
import torch
import weir

CASES = [*((name, {}) for name in "SGD Adam AdamW Adagrad RMSprop Adadelta Adamax NAdam RAdam ASGD Rprop".split()),
         ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
         ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("RMSprop", {"centered": True, "momentum": 0.9}), ("Adam", {"maximize": True})]


def gradients(t, name, steps, learns_rate, options):
    """The parameter after the steps; gradients of its start, of each step's gradient and of the rate. Or the error."""
    t.manual_seed(0)
    start = (t.rand(3, 2, dtype=t.float64) + 0.5).requires_grad_()
    given = [(t.rand(3, 2, dtype=t.float64) + 0.5).requires_grad_() for _ in range(steps)]
    lr = t.tensor(0.1, dtype=t.float64, requires_grad=True) if learns_rate else 0.1
    p = start.clone()
    try:
        optimizer = getattr(t.optim, name)([p], lr=lr, differentiable=True, **options)
        for g in given:
            p.grad = g
            optimizer.step()
        (p * t.arange(6., dtype=t.float64).reshape(3, 2)).sum().backward()
        found = [p, start.grad, *(g.grad for g in given), *([lr.grad] if learns_rate else [])]
        return [None if x is None else torch.tensor(x.tolist()) for x in found]
    except (RuntimeError, TypeError) as error:
        return error


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("name, options", CASES)
def test_gradients_through_steps(name, options, steps):
    ours, theirs = gradients(weir, name, steps, False, options), gradients(torch, name, steps, False, options)
    assert isinstance(ours, list)
    if isinstance(theirs, list):  # from the second step on, PyTorch cannot go through all of its optimizers
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "NAdam", "RAdam"])
def test_gradient_of_the_learning_rate(name):
    ours, theirs = gradients(weir, name, 1, True, {}), gradients(torch, name, 1, True, {})
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["Adagrad", "RMSprop", "Adamax", "Adadelta", "Rprop"])
def test_rates_without_gradient_are_refused(name):
    assert type(gradients(weir, name, 1, True, {})) is type(gradients(torch, name, 1, True, {})) is TypeError


def test_learning_a_learning_rate():
    """Hypergradient: the rate of an inner step falls to where the loss after it is least."""
    lr = weir.tensor(0.9, requires_grad=True)
    outer = weir.optim.SGD([lr], lr=0.05)
    for _ in range(200):
        w = weir.ones(1, requires_grad=True)
        p = w.clone()
        (p.grad,) = weir.autograd.grad((p**2).sum(), p)
        weir.optim.SGD([p], lr=lr, differentiable=True).step()
        outer.zero_grad()
        (p**2).sum().backward()
        outer.step()
    assert abs(lr.item() - 0.5) < 1e-3


@pytest.mark.parametrize("name", ["SGD", "Adam", "NAdam", "RAdam"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_options_that_are_loaded_do_not_begin_to_record(name, dtype):
    stepped = []
    for t in (torch, weir):
        p = t.tensor([1.0, 2.0], dtype=getattr(t, dtype), requires_grad=True)
        optimizer = getattr(t.optim, name)([p], lr=0.1)
        optimizer.load_state_dict(getattr(t.optim, name)([p], lr=0.1, differentiable=True).state_dict())
        p.grad = t.tensor([0.5, 1.0], dtype=getattr(t, dtype))
        optimizer.step()
        assert p.is_leaf
        stepped.append(torch.tensor(p.tolist()))
    torch.testing.assert_close(*stepped)
