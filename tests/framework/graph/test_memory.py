"""Passes that free memory: framework/graph/updates.cpp, framework/graph/narrow_gradients.cpp and framework/graph/recompute.cpp. No number may change."""

import pytest
import weir
from weir import nn
from weir.nn import functional as F


class Train(nn.Graph):
    def __init__(self, model, optimizer, budget=None):
        super().__init__()
        self.model = model
        self.add_optimizer(optimizer)
        self.config.set_memory_budget(budget)

    def build(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        return loss


def ops(plan):
    return [plan.graph.node(i)["op"] for i in range(len(plan.graph))]


def wide():
    weir.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 512), nn.GELU(), nn.Linear(512, 300), nn.LayerNorm(300), nn.Tanh(), nn.Linear(300, 512), nn.ReLU(),
                         nn.Linear(512, 7))


def pictures():
    weir.manual_seed(0)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Conv2d(16, 16, 3, padding=1, bias=False), nn.Conv2d(16, 16, 3, padding=1, bias=False)
            self.an, self.bn = nn.BatchNorm2d(16), nn.BatchNorm2d(16)

        def forward(self, x):
            return F.relu(self.bn(self.b(F.relu(self.an(self.a(x))))) + x)

    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), Block(), Block(), nn.BatchNorm2d(16), nn.Flatten(), nn.Linear(16 * 144, 7))


def batches(shape, steps=4):
    g = weir.Generator()
    g.manual_seed(1)
    return [(weir.randn(shape, generator=g), weir.randint(0, 7, (shape[0],), generator=g)) for _ in range(steps)]


def assert_trains_as_eager(make, make_optimizer, data, budget):
    """Returns the plan."""
    eager, traced = make(), make()
    a, b = make_optimizer(eager.parameters()), make_optimizer(traced.parameters())
    graph = Train(traced, b, budget)
    for x, y in data:
        a.zero_grad()
        loss = F.cross_entropy(eager(x), y)
        loss.backward()
        a.step()
        assert weir.equal(graph(x, y), loss.detach())
    for p, q in zip([*eager.parameters(), *eager.buffers()], [*traced.parameters(), *traced.buffers()], strict=True):
        assert weir.equal(p, q)
    graph.plans[0].graph.check()
    return graph.plans[0]


OPTIMIZERS = {
    "sgd": lambda p: weir.optim.SGD(p, lr=0.1),
    "momentum": lambda p: weir.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: weir.optim.Adam(p, lr=0.01),
    "asgd": lambda p: weir.optim.ASGD(p, lr=0.01),
    "lamb": lambda p: weir.optim.LAMB(p, lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_large_parameters_are_updated_by_themselves(name):
    plan = assert_trains_as_eager(wide, OPTIMIZERS[name], batches((16, 20)), None)
    updates = [i for i, op in enumerate(ops(plan)) if op.endswith("_update")]
    assert len(updates) == 3  # of two large weights and of all others
    assert len(plan.graph.node(updates[-1])["inputs"]) > len(plan.graph.node(updates[0])["inputs"])
    assert any(not op.endswith("_update") for op in ops(plan)[updates[0]:updates[1]])


@pytest.mark.parametrize("dtype", [weir.bfloat16, weir.float16])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_gradients_of_half_types_are_read_as_they_are(name, dtype):
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = wide()

        def forward(self, x):
            with weir.autocast("cpu", dtype=dtype):
                return self.layers(x).float()
    plan = assert_trains_as_eager(Halves, OPTIMIZERS[name], batches((16, 20)), None)
    read = [dtype for i, op in enumerate(ops(plan)) if op.endswith("_update") for _, _, dtype in plan.graph.node(i)["inputs"]]
    assert read.count(str(dtype).removeprefix("torch.")) >= 4


def test_a_parameter_that_is_read_late_is_updated_later():
    w = nn.Parameter(weir.ones(300, 300))
    v = nn.Parameter(weir.ones(300, 300))

    class Step(nn.Graph):
        def __init__(self):
            super().__init__()
            self.add_optimizer(weir.optim.SGD([w, v], lr=1.0))

        def build(self, x):
            ((w * x).sum() + (v * x).sum()).backward()
            return w.cumsum(0)[-1, 0]  # as it was

    step = Step()
    assert step(weir.ones(300, 300)).item() == 300
    assert weir.equal(w, weir.zeros(300, 300)) and weir.equal(v, weir.zeros(300, 300))


def test_parameters_that_share_memory_stay_together():
    flat = weir.ones(2 * 300 * 300)
    halves = [nn.Parameter(flat[:90000].view(300, 300)), nn.Parameter(flat[90000:].view(300, 300))]

    class Step(nn.Graph):
        def __init__(self):
            super().__init__()
            self.add_optimizer(weir.optim.SGD(halves, lr=1.0))

        def build(self, x):
            loss = (halves[0] * x).sum() + (halves[1] * x).sum()
            loss.backward()
            return loss

    step = Step()
    step(weir.ones(300, 300))
    assert weir.equal(flat, weir.zeros_like(flat))


@pytest.mark.parametrize("make, shape", [(wide, (512, 20)), (pictures, (16, 3, 12, 12))])
def test_a_budget_saves_memory_and_changes_no_number(make, shape):
    def adam(p):
        return weir.optim.Adam(p, lr=0.01)
    free = assert_trains_as_eager(make, adam, batches(shape), None)
    tight = assert_trains_as_eager(make, adam, batches(shape), 0)
    assert tight.live_bytes < 0.9 * free.live_bytes
    assert len(tight.graph) > len(free.graph)


def test_channels_last_pictures_under_a_budget():
    data = [(x.contiguous(memory_format=weir.channels_last), y) for x, y in batches((16, 3, 12, 12))]
    plan = assert_trains_as_eager(lambda: pictures().to(memory_format=weir.channels_last), OPTIMIZERS["momentum"], data, 0)
    assert "batch_norm_apply" in ops(plan)


def test_a_budget_that_holds_changes_nothing():
    plans = [assert_trains_as_eager(wide, OPTIMIZERS["sgd"], batches((512, 20), 1), budget) for budget in (None, 1 << 40)]
    assert ops(plans[0]) == ops(plans[1])


def test_dropout_draws_once_under_a_budget():
    model = nn.Sequential(nn.Linear(20, 400), nn.Dropout(0.5), nn.GELU(), nn.Linear(400, 400), nn.Tanh(), nn.Dropout(0.2), nn.Linear(400, 7))
    start = {k: v.clone() for k, v in model.state_dict().items()}
    (x, y), = batches((256, 20), 1)
    losses = []
    for budget in (None, 0):
        model.load_state_dict(start)
        graph = Train(model, weir.optim.SGD(model.parameters(), lr=0.1), budget)
        weir.manual_seed(3)
        losses.append([graph(x, y).item() for _ in range(3)])
    assert losses[0] == losses[1]


@pytest.mark.parametrize("value", [-1, 1.5, True, "1"])
def test_a_budget_is_a_number_of_bytes(value):
    with pytest.raises(ValueError, match="set_memory_budget: expected a number of bytes, .auto. or None"):
        Train(nn.Linear(2, 2), weir.optim.SGD([nn.Parameter(weir.ones(1))], lr=1.0), value)


def test_what_costs_next_to_no_time_is_computed_again_unasked():
    def f(x):
        x = x.detach().requires_grad_()
        y = x
        for _ in range(8):
            y = F.layer_norm(y.sin(), (4096,)).tanh().cumsum(0)
        return weir.autograd.grad(y.sum(), x)

    def plan(rows, **options):
        x = weir.empty(rows, 4096)
        with weir._trace.tracing() as t:
            traced = t.finish(list(f(*t.arguments((x,)))))
        made = weir._C._Plan(traced, **options)
        made.graph.check()
        return made
    kept, spared, sparing = plan(2048), plan(2048, saves_memory=True), plan(2048, memory_budget=0)
    assert sparing.arena_bytes < spared.arena_bytes < kept.arena_bytes
    assert len(kept.graph) < len(spared.graph) < len(sparing.graph)
    assert len(plan(256, saves_memory=True).graph) == len(plan(256).graph)  # little memory
    assert nn.Graph().config.memory_budget == "auto"


def test_a_large_plan_gives_back_what_is_idle():
    blocks = [weir.empty(1 << 20) for _ in range(8)]
    del blocks
    assert weir._C._allocator_stats()[2] >= 8 << 20
    x = weir.empty(1024, 4096)
    with weir._trace.tracing() as t:
        traced = t.finish([x.cumsum(0).cumsum(1).sum() for x in t.arguments((x,))])
    plan = weir._C._Plan(traced)
    assert plan.arena_bytes >= 16 << 20
    assert weir._C._allocator_stats()[2] < 1 << 20
