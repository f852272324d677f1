"""Full backward hooks of modules see and give what PyTorch's do: None for what is no tensor, nothing in a second derivative."""
import warnings

import pytest
import torch
import weir


def seen(gradients):
    return [None if g is None else g.tolist() for g in gradients]


def mixed(t, result=None, before=None, requires=(True, False)):
    """A module of two tensors and a number, with two tensors and a number as results."""
    class Mixed(t.nn.Module):
        def forward(self, x, k, y):
            return x * k + y, 3, x.sum()
    log, module = [], Mixed()
    module.register_full_backward_hook(lambda m, gi, go: log.append([seen(gi), seen(go)]) or result and result(t))
    module.register_full_backward_pre_hook(lambda m, go: log.append(seen(go)) or before)
    x, y = (t.ones(2, requires_grad=r) for r in requires)
    first, _, second = module(x, 2, y)
    (first.sum() * 2 + second).backward()
    return log, None if x.grad is None else x.grad.tolist()


def no_gradient_of_inputs(t, result=None):
    class Scaled(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = t.nn.Parameter(t.ones(2))

        def forward(self, x):
            return x * self.weight
    log, module = [], Scaled()
    module.register_full_backward_hook(lambda m, gi, go: log.append([seen(gi), seen(go)]) or result and result(t))
    module(t.ones(2)).sum().backward()
    return log, module.weight.grad.tolist()


def second_derivative(t):
    log, module = [], t.nn.MSELoss()
    module.register_full_backward_hook(lambda m, gi, go: log.append(seen(go)))
    x = t.ones(1, requires_grad=True)
    gradient, = t.autograd.grad(module(x, t.zeros(1)), x, create_graph=True)
    return log, t.autograd.grad(gradient, x)[0].tolist(), log


CASES = {
    "one input": mixed, "both inputs": lambda t: mixed(t, requires=(True, True)), "too few": lambda t: mixed(t, lambda t: (None,)),
    "others": lambda t: mixed(t, lambda t: (t.full((2,), 9.0), None, None)), "too few before": lambda t: mixed(t, before=(None,)),
    "inputs without": no_gradient_of_inputs, "inputs without, given": lambda t: no_gradient_of_inputs(t, lambda t: (t.ones(2),)),
    "second derivative": second_derivative}


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name):
    def outcome(t):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                return CASES[name](t), sum("firing" in str(w.message) for w in told)
            except RuntimeError:
                return "RuntimeError"
    assert outcome(weir) == outcome(torch)
