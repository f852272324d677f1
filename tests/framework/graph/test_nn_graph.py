"""framework/binding/watch.cpp, and nn.Graph against the same program in eager mode: every number equal, bit for bit."""

import copy

import numpy as np
import pytest
import weir
from weir import nn
from weir.nn import functional as F


def mlp(dropout=0.0):
    weir.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 32), nn.GELU(), nn.LayerNorm(32),
                         nn.Linear(32, 5))


def data(steps, batch=8):
    g = weir.Generator()
    g.manual_seed(1)
    return [(weir.randn(batch, 12, generator=g), weir.randint(0, 5, (batch,), generator=g)) for _ in range(steps)]


OPTIMIZERS = {
    "sgd": lambda p: weir.optim.SGD(p, lr=0.1),
    "momentum": lambda p: weir.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01),
    "nesterov": lambda p: weir.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, maximize=True),
    "adam": lambda p: weir.optim.Adam(p, lr=0.01, weight_decay=0.1),
    "adamw": lambda p: weir.optim.AdamW(p, lr=0.01),
}


class Train(nn.Graph):
    def __init__(self, model, optimizer, schedule=None):
        super().__init__()
        self.model = model
        self.add_optimizer(optimizer, lr_sch=schedule)

    def build(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        return loss


def train_eagerly(model, optimizer, batches, schedule=None):
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if schedule is not None:
            schedule.step()
        losses.append(loss.detach())
    return losses


def assert_same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert x.dtype == y.dtype and x.shape == y.shape
        assert weir.equal(x, y)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_equals_eager(name):
    eager, traced = mlp(), mlp()
    a, b = OPTIMIZERS[name](eager.parameters()), OPTIMIZERS[name](traced.parameters())
    graph = Train(traced, b)
    batches = data(20)
    losses = train_eagerly(eager, a, batches)
    assert_same([graph(x, y) for x, y in batches], losses)
    assert_same(list(traced.parameters()), list(eager.parameters()))
    assert graph.num_plans == 1


def test_dropout_draws_the_same_numbers():
    eager, traced = mlp(0.3), mlp(0.3)
    graph = Train(traced, OPTIMIZERS["adam"](traced.parameters()))
    batches = data(10)
    weir.manual_seed(5)
    losses = train_eagerly(eager, OPTIMIZERS["adam"](eager.parameters()), batches)
    weir.manual_seed(5)
    assert_same([graph(x, y) for x, y in batches], losses)


def test_a_schedule_needs_no_new_plan():
    eager, traced = mlp(), mlp()
    a, b = OPTIMIZERS["momentum"](eager.parameters()), OPTIMIZERS["momentum"](traced.parameters())
    graph = Train(traced, b, weir.optim.lr_scheduler.StepLR(b, 3))
    batches = data(10)
    losses = train_eagerly(eager, a, batches, weir.optim.lr_scheduler.StepLR(a, 3))
    assert_same([graph(x, y) for x, y in batches], losses)
    assert graph.num_plans == 1
    assert a.param_groups[0]["lr"] == b.param_groups[0]["lr"]


@pytest.mark.parametrize("name", ["momentum", "adam"])
def test_resume_continues_bit_for_bit(name, tmp_path):
    def make():
        model = mlp(0.2)
        optimizer = OPTIMIZERS[name](model.parameters())
        return Train(model, optimizer, weir.optim.lr_scheduler.StepLR(optimizer, 4)), model
    batches = data(20)
    weir.manual_seed(7)
    graph, whole = make()
    weir.manual_seed(9)
    losses = [graph(x, y) for x, y in batches]

    first, _ = make()
    weir.manual_seed(9)
    for x, y in batches[:10]:
        first(x, y)
    weir.save(first.state_dict(), tmp_path / "state.pt")
    second, model = make()
    second(*batches[3])  # a plan made before the state was loaded
    second.load_state_dict(weir.load(tmp_path / "state.pt"))
    assert_same([second(x, y) for x, y in batches[10:]], losses[10:])
    assert_same(list(model.parameters()), list(whole.parameters()))


def test_new_shapes_get_plans_of_their_own():
    eager, traced = mlp(), mlp()
    graph = Train(traced, OPTIMIZERS["adam"](traced.parameters()))
    batches = [b for pair in zip(data(3, 8), data(3, 4)) for b in pair]
    losses = train_eagerly(eager, OPTIMIZERS["adam"](eager.parameters()), batches)
    assert_same([graph(x, y) for x, y in batches], losses)
    assert graph.num_plans == 2 and len(graph.traces) == 2


def test_batch_norm_keeps_its_statistics():
    def make():
        weir.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(8 * 16, 5))
    eager, traced = make(), make()
    graph = Train(traced, OPTIMIZERS["momentum"](traced.parameters()))
    batches = [(weir.randn(4, 3, 8, 8), weir.randint(0, 5, (4,))) for _ in range(5)]
    losses = train_eagerly(eager, OPTIMIZERS["momentum"](eager.parameters()), batches)
    assert_same([graph(x, y) for x, y in batches], losses)
    assert_same(list(traced.state_dict().values()), list(eager.state_dict().values()))


def test_updates_are_in_place_whatever_the_layout():
    model = nn.Sequential(nn.Conv2d(4, 8, 1), nn.Conv2d(8, 8, 3)).to(memory_format=weir.channels_last)
    step = Train(nn.Sequential(model, nn.Flatten(), nn.Linear(8 * 4, 3)), OPTIMIZERS["momentum"](model.parameters()))
    step(weir.randn(2, 4, 4, 4), weir.randint(0, 3, (2,)))
    g = step.plans[0].graph
    assert "copy" not in [g.node(i)["op"] for i in range(len(g))]


def test_a_mode_change_of_a_module_makes_a_new_plan():
    model = mlp(0.5)

    class Forward(nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model

        def build(self, x):
            return self.model(x)

    graph, x = Forward(), weir.randn(2, 12)
    graph(x)
    model.eval()
    assert weir.equal(graph(x), model(x))
    assert "training was True, is False" in graph.traces[-1]


def test_replaced_parameters_make_a_new_plan():
    model = nn.Linear(3, 2)

    class Forward(nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model

        def build(self, x):
            return self.model(x)

    graph, x = Forward(), weir.randn(2, 3)
    graph(x)
    model.weight.data = weir.randn(2, 3)
    assert weir.equal(graph(x), model(x))
    model.bias = nn.Parameter(weir.randn(2))
    assert weir.equal(graph(x), model(x))
    with weir.no_grad():
        model.weight.mul_(2)  # the same memory: the plan sees it
    assert weir.equal(graph(x), model(x))
    assert len(graph.traces) == 3


def test_options_of_an_optimizer_make_a_new_plan():
    eager, traced = mlp(), mlp()
    a, b = OPTIMIZERS["adam"](eager.parameters()), OPTIMIZERS["adam"](traced.parameters())
    graph = Train(traced, b)
    batches = data(6)
    got, losses = [], []
    for i, batch in enumerate(batches):
        for o in (a, b):
            o.param_groups[0]["weight_decay"] = 0.1 if i < 3 else 0.5
            o.param_groups[0]["lr"] = 0.01 / (i + 1)
        got.append(graph(*batch))
        losses += train_eagerly(eager, a, [batch])
    assert_same(got, losses)
    assert len(graph.traces) == 2 and "options" in graph.traces[1]


def test_amp_equals_autocast():
    eager, traced = mlp(), mlp()
    graph = Train(traced, OPTIMIZERS["adam"](traced.parameters()))
    graph.config.enable_amp(True)
    batches, losses = data(5), []
    optimizer = OPTIMIZERS["adam"](eager.parameters())
    for x, y in batches:
        optimizer.zero_grad()
        with weir.autocast("cpu", dtype=weir.bfloat16):
            loss = F.cross_entropy(eager(x), y)
            loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    assert_same([graph(x, y) for x, y in batches], losses)
    assert_same(list(traced.parameters()), list(eager.parameters()))


@pytest.mark.parametrize("dtype", [weir.float32, weir.float16])
@pytest.mark.parametrize("view", [False, True])
def test_autocast_shares_casts_as_eager_mode_does(dtype, view):
    """A leaf of float32 is cast once for both of its uses, a view and other dtypes for each: gradients add up in other precisions."""
    class Twice(nn.Graph):
        def build(self, x):
            with weir.autocast("cpu", dtype=weir.bfloat16):
                y = x @ x
            return weir.autograd.grad(y, x, weir.ones_like(y))[0]
    weir.manual_seed(0)
    memory = weir.randn(10).to(dtype)
    x = memory.as_strided((3, 3), (3, 1), 1) if view else memory[1:].clone().view(3, 3).detach().clone()
    x.requires_grad_()
    assert weir.equal(Twice()(x), Twice().build(x))


def test_gradient_accumulation_averages():
    eager, traced = mlp(), mlp()
    graph = Train(traced, OPTIMIZERS["sgd"](traced.parameters()))
    graph.config.set_gradient_accumulation_steps(2)
    (x, y), = data(1)
    optimizer = OPTIMIZERS["sgd"](eager.parameters())
    losses = []
    for i in (0, 4):
        loss = F.cross_entropy(eager(x[i:i + 4]), y[i:i + 4])
        loss.backward()
        losses.append(loss.detach())
    for p in eager.parameters():
        p.grad = p.grad / 2
    optimizer.step()
    assert weir.equal(graph(x, y), weir.stack(losses))
    assert_same(list(traced.parameters()), list(eager.parameters()))


def test_gradients_without_an_optimizer_reach_grad():
    eager, traced = mlp(), mlp()

    class Backward(nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = traced

        def build(self, x, y):
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            return loss

    graph = Backward()
    for x, y in data(2):
        graph(x, y)
        F.cross_entropy(eager(x), y).backward()
    assert_same([p.grad for p in traced.parameters()], [p.grad for p in eager.parameters()])


def test_nested_arguments_and_results():
    class Nest(nn.Graph):
        def build(self, pair, *, scale, names):
            a, b = pair
            return {"sum": [a + b, (a * scale,)], "names": names}

    graph = Nest()
    a, b = weir.randn(3), weir.randn(3)
    out = graph((a, b), scale=2.0, names={"x": a})
    assert weir.equal(out["sum"][0], a + b) and weir.equal(out["sum"][1][0], a * 2.0)
    assert out["names"]["x"].data_ptr() == a.data_ptr()
    assert weir.equal(graph((a, b), scale=3.0, names={"x": a})["sum"][1][0], a * 3.0)


@pytest.mark.parametrize("change", [
    lambda x: x.t_(), lambda x: x.unsqueeze_(0), lambda x: x.squeeze_(), lambda x: weir.mul(weir.ones(5, 5), 2, out=x),
    lambda x: weir.add(weir.ones(2), 1, out=x), lambda x: x.resize_(1, 2).mul_(3), lambda x: weir.sort(weir.ones(4, 4), out=(x, weir.zeros(0).long()))[0],
    lambda x: weir.cat([weir.zeros(3, 3), weir.ones(1, 3)], out=x)[1:], lambda x: x.swapaxes_(0, 1).mul_(2),
], ids=range(9))
def test_arguments_may_get_another_shape(change):
    class Program(nn.Graph):
        def build(self, x):
            y = change(x)
            return x.sum(), y
    program = Program()
    for _ in range(2):
        eager, traced = weir.arange(6.0).reshape(2, 3).clone(), weir.arange(6.0).reshape(2, 3).clone()
        expected = change(eager)
        total, result = program(traced)
        assert weir.equal(total, eager.sum()) and weir.equal(result, expected)
        assert traced.shape == eager.shape and traced.stride() == eager.stride() and weir.equal(traced, eager)
        result.fill_(7)
        expected.fill_(7)
        assert weir.equal(traced, eager)
    assert program.num_plans == 1


@pytest.mark.parametrize("change", [
    lambda x: x.resize_(2, 3), lambda x: x.resize_(2, 3).mul_(3), lambda x: weir.mul(weir.ones(2, 4), 2, out=x),
    lambda x: weir.max(weir.arange(24.0).view(4, 3, 2), -1, out=(x, weir.zeros(0).long()))[0],
], ids=range(4))
def test_a_part_of_some_memory_may_grow(change):
    class Program(nn.Graph):
        def build(self, x):
            return change(x), x + 1
    program = Program()
    for _ in range(2):
        eager, traced = weir.arange(20.0), weir.arange(20.0)
        inputs = [t[3:6] for t in (eager, traced)]
        expected, result = Program().build(inputs[0]), program(inputs[1])
        assert all(weir.equal(a, b) for a, b in zip(result, expected)) and weir.equal(*inputs) and weir.equal(traced, eager)
    assert program.num_plans == 1


def test_a_program_that_reshapes_an_argument_is_not_saved(tmp_path):
    class Program(nn.Graph):
        def build(self, x):
            return x.t_().sum()
    with pytest.raises(RuntimeError, match="another shape"):
        Program().save(tmp_path / "g", weir.ones(2, 3))


def test_fusions_can_be_switched_off():
    def build(**allowed):
        weir.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(12, 1))

        class Train(nn.Graph):
            def __init__(self):
                super().__init__()
                self.model = model
                self.add_optimizer(weir.optim.SGD(model.parameters(), lr=0.1))
                for name, mode in allowed.items():
                    getattr(self.config, f"allow_fuse_{name}")(mode)

            def build(self, x):
                loss = ((self.model(x).sigmoid() * 2).exp() * 3).sum()
                loss.backward()
                return loss
        train = Train()
        weir.manual_seed(1)
        x = weir.randn(4, 2, 2, 2)
        losses = [train(x).item() for _ in range(3)]
        ops = [train.plans[0].graph.node(i)["op"] for i in range(len(train.plans[0].graph))]
        return losses, ops
    losses, ops = build()
    assert ops.count("sgd_update") == 1 and "batch_norm_relu" in ops and "fused" in ops
    for name, gone in (("add_to_output", "batch_norm_relu"), ("cast_scale", "fused")):
        same, others = build(**{name: False})
        assert same == losses and gone in ops and gone not in others
    same, others = build(model_update_ops=False)
    assert same == losses and others.count("sgd_update") == 6


def test_two_graphs_share_a_module():
    model = mlp()
    train = Train(model, OPTIMIZERS["adam"](model.parameters()))

    class Evaluate(nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model

        def build(self, x):
            return self.model(x)

    evaluate = Evaluate()
    for x, y in data(3):
        train(x, y)
        assert weir.equal(evaluate(x), model(x))


def test_reading_a_value_names_the_line():
    class Bad(nn.Graph):
        def build(self, x):
            if x.sum() > 0:  # this line
                return x
            return -x

    with pytest.raises(RuntimeError, match=r"test_nn_graph\.py:\d+"):
        Bad()(weir.randn(3))
    assert weir.equal(weir.ones(2) + 1, weir.full((2,), 2.0))  # eager mode goes on


def test_a_failed_trace_leaves_everything_as_it_was():
    model = nn.Linear(3, 2)
    before = copy.deepcopy(model.state_dict())

    class Bad(nn.Graph):
        def __init__(self):
            super().__init__()
            self.model = model
            self.add_optimizer(weir.optim.Adam(model.parameters()))

        def build(self, x):
            loss = self.model(x).sum()
            loss.backward()
            return float(loss)

    with pytest.raises(RuntimeError, match="traced"):
        Bad()(weir.randn(4, 3))
    assert all(weir.equal(before[k], v) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    model(weir.randn(4, 3)).sum().backward()


def test_nodes_know_their_module():
    model = mlp()
    graph = Train(model, OPTIMIZERS["sgd"](model.parameters()))
    graph(*data(1)[0])
    g = graph.plans[0].graph
    nodes = [g.node(i) for i in range(len(g))]
    assert any(n["module"] == "model.4" and n["op"] == "gelu" for n in nodes)
    assert all(n["file"] is None or n["file"].endswith("test_nn_graph.py") for n in nodes)
    g.check()


def test_checkpointed_draws_are_refused():
    model = mlp(0.5)
    graph = Train(model, OPTIMIZERS["sgd"](model.parameters()))
    graph.model.to(nn.graph.GraphModule).activation_checkpointing = True
    with pytest.raises(RuntimeError, match="random numbers again"):
        graph(*data(1)[0])


def test_activation_checkpointing_gives_the_same_numbers():
    eager, traced = mlp(), mlp()
    graph = Train(traced, OPTIMIZERS["adam"](traced.parameters()))
    graph.model.to(nn.graph.GraphModule).activation_checkpointing = True
    batches = data(4)
    losses = train_eagerly(eager, OPTIMIZERS["adam"](eager.parameters()), batches)
    assert_same([graph(x, y) for x, y in batches], losses)


def test_numbers_of_numpy_keep_their_kind():
    class Given(weir.nn.Graph):
        def build(self, x):
            return weir.as_tensor(x)
    graph = Given()
    assert [graph(x).dtype for x in (2.5, np.float64(2.5), np.float64("nan"), 2.5)] == [weir.float32, weir.float64, weir.float64, weir.float32]
