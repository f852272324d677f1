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


def test_what_reads_values_is_refused():
    p = nn.Parameter(weir.ones(2))
    with pytest.raises(NotImplementedError, match="LBFGS has no traced step"):
        Train(nn.Identity(), weir.optim.LBFGS([p]), None)
