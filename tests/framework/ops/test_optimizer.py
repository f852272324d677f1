"""Optimizer updates as ops: one call for all parameters, in eager mode and in graphs, with the same numbers.

Covers framework/op/changes.cpp: what an update changes beside its result.
"""

import pytest
import weir
from weir import nn

OPTIONS = [
    ("SGD", dict(lr=0.1)), ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01, maximize=True)),
    ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True)), ("Adam", dict(lr=0.01, weight_decay=0.1)),
    ("Adam", dict(lr=0.01, amsgrad=True, maximize=True)), ("AdamW", dict(lr=0.01, amsgrad=True)), ("RMSprop", dict(lr=0.01)),
    ("RMSprop", dict(lr=0.01, momentum=0.5, centered=True, weight_decay=0.1)), ("RMSprop", dict(lr=0.01, centered=True)),
    ("Adagrad", dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.1)), ("Adadelta", dict(lr=0.5, rho=0.8)),
    ("Adamax", dict(lr=0.01, weight_decay=0.1)), ("NAdam", dict(lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)),
    ("RAdam", dict(lr=0.01)), ("RAdam", dict(lr=0.1, betas=(0.9, 0.5), weight_decay=0.1, decoupled_weight_decay=True)),
    ("Rprop", dict(lr=0.01)), ("ASGD", dict(lr=0.1, t0=2.0, lambd=0.1, weight_decay=0.1)), ("LAMB", dict(lr=0.01, weight_decay=0.1)),
    ("LAMB", dict(lr=0.01, weight_decay=0.1, adam_w_mode=False, do_bias_correction=False))]
SIZES = [(5,), (3, 4), (1,), (2, 3, 5), (40_001,)]


class Step(nn.Graph):
    def __init__(self, parameters, optimizer):
        super().__init__()
        self.parameters = parameters
        self.add_optimizer(optimizer)

    def build(self, grads):
        for p, g in zip(self.parameters, grads):
            p.grad = g


def parameters(dtype=weir.float32, sizes=SIZES):
    weir.manual_seed(0)
    return [nn.Parameter(weir.randn(*size, dtype=dtype)) for size in sizes]


def gradients(step, of):
    weir.manual_seed(100 + step)
    return [weir.randn_like(p.detach()) for p in of]


@pytest.mark.parametrize("dtype", [weir.float32, weir.float64], ids=str)
@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_a_graph_updates_as_eager_mode_in_one_node(name, options, dtype):
    eager, traced = parameters(dtype), parameters(dtype)
    optimizer = getattr(weir.optim, name)(eager, **options)
    graph_optimizer = getattr(weir.optim, name)(traced, **options)
    step = Step(traced, graph_optimizer)
    for i in range(6):
        grads = gradients(i, eager)
        for p, g in zip(eager, grads):
            p.grad = g
        optimizer.step()
        step(grads)
        for a, b in zip(traced, eager):
            assert weir.equal(a, b), (i, a, b)
    assert step.num_plans == 1 and len(step.plans[0].graph) == 1
    for a, b in zip(graph_optimizer.state_dict()["state"].values(), optimizer.state_dict()["state"].values()):
        assert set(a) == set(b) and all(weir.equal(a[k], b[k]) for k in a)


@pytest.mark.parametrize("name, options", OPTIONS, ids=str)
def test_one_call_equals_the_formulas_in_tensor_ops(name, options):
    """What the op does not take, here parameters with holes, is updated by ops on tensors, in PyTorch's order."""
    dense, holes = parameters(weir.float64, [(3, 4)]), [weir.zeros(3, 8, dtype=weir.float64)[:, ::2].requires_grad_()]
    with weir.no_grad():
        holes[0].copy_(dense[0])
    optimizers = [getattr(weir.optim, name)(p, **options) for p in (dense, holes)]
    for i in range(6):
        dense[0].grad, = gradients(i, dense)
        holes[0].grad = dense[0].grad.clone()
        for optimizer in optimizers:
            optimizer.step()
        assert weir.allclose(dense[0], holes[0], rtol=1e-9, atol=1e-12), i


def test_threads_do_not_show():
    def run(threads):
        weir.set_num_threads(threads)
        ps = parameters()
        optimizer = weir.optim.LAMB(ps, lr=0.01)
        for p, g in zip(ps, gradients(0, ps)):
            p.grad = g
        optimizer.step()
        return ps
    before = weir.get_num_threads()
    try:
        assert all(weir.equal(a, b) for a, b in zip(run(1), run(2)))
    finally:
        weir.set_num_threads(before)


def test_every_tensor_that_changes_says_so():
    p = parameters(sizes=[(3,), (4,)])
    optimizer = weir.optim.Adam(p)
    for q in p:
        q.grad = weir.ones_like(q.detach())
    optimizer.step()
    tensors = [t for q in p for t in (q, *optimizer.state[q].values())]
    before = [t._version for t in tensors]
    optimizer.step()
    assert all(t._version > v for t, v in zip(tensors, before))


@pytest.mark.parametrize("make, what", [
    (lambda p: weir.optim.LBFGS(p), "LBFGS"), (lambda p: weir.optim.SparseAdam(p), "SparseAdam")])
def test_what_has_no_traced_step_says_so(make, what):
    p = parameters()
    with pytest.raises(NotImplementedError, match=what):
        Step(p, make(p))


@pytest.mark.parametrize("late", [False, True])
def test_step_hooks_are_refused(late):
    p = parameters(sizes=[(3,)])
    optimizer = weir.optim.SGD(p)
    step = Step(p, optimizer) if late else None
    optimizer.register_step_post_hook(lambda *_: None)
    with pytest.raises(NotImplementedError, match="hooks"):
        step(gradients(0, p)) if late else Step(p, optimizer)


def test_a_step_of_the_users_own_is_refused():
    class Mine(weir.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
    p = parameters(sizes=[(3,)])
    with pytest.raises(NotImplementedError, match="Mine"):
        Step(p, Mine(p))
