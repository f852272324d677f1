"""Optimizers whose update is traced op by op: nn.Graph trains as eager mode does, bit for bit, and a schedule needs no new plan."""

import pytest
import weir
from weir import nn
from weir.nn import functional as F

OPTIMIZERS = {
    "adafactor": lambda p: weir.optim.Adafactor(p, lr=0.1),
    "adafactor, decayed": lambda p: weir.optim.Adafactor(p, lr=0.05, weight_decay=0.1, d=2.0, beta2_decay=-0.5, maximize=True),
    "muon": lambda p: weir.optim.Muon([q for q in p if q.ndim == 2], lr=0.02),
    "muon, plain": lambda p: weir.optim.Muon([q for q in p if q.ndim == 2], lr=0.02, nesterov=False, adjust_lr_fn="match_rms_adamw"),
}


class Train(nn.Graph):
    def __init__(self, model, optimizer, schedule):
        super().__init__()
        self.model = model
        self.add_optimizer(optimizer, lr_sch=schedule)

    def build(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        return loss


@pytest.mark.parametrize("dtype", [weir.float32, weir.float64, weir.bfloat16])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_eager(name, dtype):
    def make():
        weir.manual_seed(0)
        model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 5)).to(dtype)
        optimizer = OPTIMIZERS[name](list(model.parameters()))
        return model, optimizer, weir.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)

    eager, a, schedule = make()
    traced, b, other = make()
    graph = Train(traced, b, other)
    weir.manual_seed(1)
    for _ in range(10):
        x, y = weir.randn(8, 12).to(dtype), weir.randint(0, 5, (8,))
        eager.zero_grad()
        loss = F.cross_entropy(eager(x), y)
        loss.backward()
        a.step()
        schedule.step()
        assert weir.equal(graph(x, y), loss.detach())
        for p, q in zip(eager.parameters(), traced.parameters(), strict=True):
            assert weir.equal(p, q)
    assert graph.num_plans == 1
    for p, q in zip(a.state, b.state, strict=True):
        for key, value in a.state[p].items():
            assert weir.equal(value, b.state[q][key])


O = weir.optim
UPDATES = {  # with an op for float32 and float64, else traced op by op
    "sgd": lambda p: O.SGD(p, lr=0.1, weight_decay=0.1),
    "sgd, momentum": lambda p: O.SGD(p, lr=0.1, momentum=0.9, dampening=0.2),
    "sgd, nesterov": lambda p: O.SGD(p, lr=0.1, momentum=0.9, nesterov=True, maximize=True),
    "adam": lambda p: O.Adam(p, lr=0.1, weight_decay=0.1),
    "adam, amsgrad": lambda p: O.Adam(p, lr=0.1, amsgrad=True),
    "adamw": lambda p: O.AdamW(p, lr=0.1),
    "adamax": lambda p: O.Adamax(p, lr=0.1),
    "nadam": lambda p: O.NAdam(p, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True),
    "radam": lambda p: O.RAdam(p, lr=0.1),
    "rmsprop": lambda p: O.RMSprop(p, lr=0.1, momentum=0.5, centered=True),
    "adagrad": lambda p: O.Adagrad(p, lr=0.1, lr_decay=0.1),
    "adadelta": lambda p: O.Adadelta(p, lr=0.5),
    "rprop": lambda p: O.Rprop(p, lr=0.1),
    "asgd": lambda p: O.ASGD(p, lr=0.1, t0=3),
    "lamb": lambda p: O.LAMB(p, lr=0.1, weight_decay=0.1),
}


class Step(nn.Graph):
    def __init__(self, parameters, optimizer, schedule):
        super().__init__()
        self.parameters = parameters
        self.add_optimizer(optimizer, lr_sch=schedule)

    def build(self, grads):
        for p, grad in zip(self.parameters, grads, strict=True):
            p.grad = grad


@pytest.mark.parametrize("name, dtype", [(name, dtype) for name in UPDATES for dtype in (weir.bfloat16, weir.float16, weir.complex64)
                                         if name != "lamb" or not dtype.is_complex])  # LAMB is for real parameters
def test_parameters_that_no_op_takes(name, dtype):
    weir.manual_seed(0)
    grads = [[weir.randn(shape, dtype=weir.complex64).to(dtype) if dtype.is_complex else weir.randn(shape).to(dtype)
              for shape in ((3, 5), (), (7,))] for _ in range(8)]

    def make():
        parameters = [nn.Parameter(g.clone() / 2) for g in grads[0]]
        optimizer = UPDATES[name](parameters)
        return parameters, optimizer, O.lr_scheduler.StepLR(optimizer, 3, 0.5)
    eager, a, schedule = make()
    traced, b, other = make()
    graph = Step(traced, b, other)
    for some in grads:
        for p, grad in zip(eager, some, strict=True):
            p.grad = grad.clone()
        a.step()
        schedule.step()
        graph(some)
        for p, q in zip(eager, traced, strict=True):
            assert weir.equal(weir.nan_to_num(weir.view_as_real(p) if dtype.is_complex else p),
                              weir.nan_to_num(weir.view_as_real(q) if dtype.is_complex else q))
    assert graph.num_plans == 1
    for p, q in zip(eager, traced, strict=True):
        assert a.state[p].keys() == b.state[q].keys()
        for key, value in a.state[p].items():
            assert value.dtype == b.state[q][key].dtype and value.shape == b.state[q][key].shape


def test_what_reads_values_is_refused():
    p = nn.Parameter(weir.ones(2))
    with pytest.raises(NotImplementedError, match="LBFGS has no traced step"):
        Train(nn.Identity(), weir.optim.LBFGS([p]), None)
