"""Optimizers and schedules step by step against PyTorch's."""

import copy

import pytest
import torch
import weir
from twins import assert_close, copy_state, to_weir

OPTIONS = [
    ("SGD", dict(lr=0.1)), ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01)),
    ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True)), ("SGD", dict(lr=0.1, maximize=True)),
    ("Adam", dict(lr=0.01)), ("Adam", dict(lr=0.01, weight_decay=0.1, amsgrad=True)),
    ("Adam", dict(lr=0.01, betas=(0.5, 0.9), eps=1e-4, maximize=True)), ("AdamW", dict(lr=0.01)),
    ("AdamW", dict(lr=0.01, weight_decay=0.3, amsgrad=True)), ("RMSprop", dict(lr=0.01)),
    ("RMSprop", dict(lr=0.01, momentum=0.5, centered=True, weight_decay=0.1)), ("Adagrad", dict(lr=0.1)),
    ("Adagrad", dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.1)),
    ("Adadelta", dict(lr=1.0)), ("Adadelta", dict(lr=0.5, rho=0.8, weight_decay=0.1)), ("Adamax", dict(lr=0.01)),
    ("Adamax", dict(lr=0.01, weight_decay=0.1)), ("NAdam", dict(lr=0.01)),
    ("NAdam", dict(lr=0.01, weight_decay=0.1, decoupled_weight_decay=True)), ("RAdam", dict(lr=0.01)),
    ("RAdam", dict(lr=0.1, betas=(0.9, 0.5), weight_decay=0.1))]
NAMES = sorted({name for name, _ in OPTIONS})


def network(F):
    return F.nn.Sequential(F.nn.Linear(4, 5), F.nn.Tanh(), F.nn.Linear(5, 1))


def twins(name, options):
    torch.manual_seed(0)
    theirs, ours = network(torch), network(weir)
    copy_state(theirs, ours)
    return [(F, net, getattr(F.optim, name)(net.parameters(), **options)) for F, net in ((torch, theirs), (weir, ours))]


def train(F, net, optimizer, x):
    optimizer.zero_grad()
    (net(x) ** 2).mean().backward()
    optimizer.step()


@pytest.mark.parametrize("name, options", OPTIONS, ids=lambda v: str(v))
def test_ten_steps_agree(name, options):
    (T, theirs, their_optimizer), (W, ours, our_optimizer) = twins(name, options)
    for step in range(10):
        x = torch.randn(6, 4)
        train(T, theirs, their_optimizer, x)
        train(W, ours, our_optimizer, to_weir(x))
        for a, e in zip(ours.parameters(), theirs.parameters()):
            assert_close(a, e, rtol=1e-4, atol=1e-5, what=f"step {step}")
    expected, actual = their_optimizer.state_dict(), our_optimizer.state_dict()
    assert repr(our_optimizer) == repr(their_optimizer)
    assert [set(g) for g in actual["param_groups"]] == [set(g) for g in expected["param_groups"]]
    for key, state in expected["state"].items():
        assert set(actual["state"][key]) == set(state)
        for what, value in state.items():
            assert_close(actual["state"][key][what], value, what=what)


@pytest.mark.parametrize("name", NAMES)
def test_state_of_torch_continues_here(name):
    (T, theirs, their_optimizer), (W, ours, our_optimizer) = twins(name, dict(lr=0.01))
    x = torch.randn(6, 4)
    for _ in range(3):
        train(T, theirs, their_optimizer, x)
    copy_state(theirs, ours)
    our_optimizer.load_state_dict(to_weir(their_optimizer.state_dict()))
    train(T, theirs, their_optimizer, x), train(W, ours, our_optimizer, to_weir(x))
    for a, e in zip(ours.parameters(), theirs.parameters()):
        assert_close(a, e)


@pytest.mark.parametrize("wrong", [
    lambda F: F.optim.SGD([], lr=0.1), lambda F: F.optim.SGD(F.zeros(2), lr=0.1),
    lambda F: F.optim.SGD([F.zeros(2)], lr=-1), lambda F: F.optim.SGD([F.zeros(2)], lr=1, nesterov=True),
    lambda F: F.optim.Adam([F.zeros(2)], betas=(1.0, 0.9)), lambda F: F.optim.Adam([3]),
    lambda F: F.optim.Adam([F.zeros(2, requires_grad=True) * 2]), lambda F: F.optim.SGD([{"params": {1, 2}}], lr=1),
    lambda F: F.optim.Adadelta([F.zeros(2)], rho=2)])
def test_errors_are_torchs(wrong):
    with pytest.raises(Exception) as theirs:
        wrong(torch)
    with pytest.raises(theirs.type) as ours:
        wrong(weir)
    assert str(ours.value) == str(theirs.value).replace("torch.FloatTensor", ours.value.args[0].split()[-1])


@pytest.mark.parametrize("F", [weir, torch])
def test_groups_hooks_and_closure(F):
    a, b = (F.nn.Parameter(F.ones(1)) for _ in range(2))
    optimizer = F.optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.5)
    log = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before") or None)
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("after"))

    def closure():
        optimizer.zero_grad()
        loss = (a + b).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 2.0
    assert (a.item(), b.item()) == (0.5, 0.0) and log == ["before", "after"]
    with pytest.raises(ValueError):
        optimizer.add_param_group({"params": [a]})


SCHEDULES = [
    ("LambdaLR", dict(lr_lambda=lambda e: 0.9**e)), ("MultiplicativeLR", dict(lr_lambda=lambda e: 0.9)),
    ("StepLR", dict(step_size=3)), ("MultiStepLR", dict(milestones=[2, 5, 5], gamma=0.5)),
    ("ConstantLR", dict(factor=0.5, total_iters=4)), ("LinearLR", dict(start_factor=0.25, total_iters=6)),
    ("ExponentialLR", dict(gamma=0.8)), ("CosineAnnealingLR", dict(T_max=4, eta_min=0.01)),
    ("PolynomialLR", dict(total_iters=8, power=2.0)), ("OneCycleLR", dict(max_lr=1.0, total_steps=20)),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=20, three_phase=True, anneal_strategy="linear")),
    ("CosineAnnealingWarmRestarts", dict(T_0=3, T_mult=2)), ("CyclicLR", dict(base_lr=0.1, max_lr=1.0, step_size_up=4)),
    ("CyclicLR", dict(base_lr=0.1, max_lr=1.0, step_size_up=2, step_size_down=3, mode="triangular2")),
    ("SequentialLR", None)]


def schedule(F, name, options):
    optimizer = F.optim.SGD([F.nn.Parameter(F.zeros(1))], lr=0.4, momentum=0.9)
    lr = F.optim.lr_scheduler
    if name == "SequentialLR":
        parts = [lr.LinearLR(optimizer, 0.1, total_iters=4), lr.CosineAnnealingLR(optimizer, 8), lr.StepLR(optimizer, 2)]
        return optimizer, lr.SequentialLR(optimizer, parts, [4, 9])
    return optimizer, getattr(lr, name)(optimizer, **options)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, options", SCHEDULES, ids=lambda v: v if isinstance(v, str) else "")
def test_rates_agree(name, options):
    def rates(F):
        optimizer, scheduler = schedule(F, name, options)
        found = []
        for _ in range(16):
            found.append((optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"], *scheduler.get_last_lr()))
            optimizer.step()
            scheduler.step()
        return found

    assert rates(weir) == [pytest.approx(r, rel=1e-9, abs=1e-15) for r in rates(torch)]


def test_plateau_and_state():
    def rates(F):
        optimizer = F.optim.SGD([F.nn.Parameter(F.zeros(1))], lr=0.4)
        make = lambda: F.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, cooldown=1, factor=0.5)  # noqa: E731
        scheduler, found = make(), []
        for i, metric in enumerate([5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3, 3]):
            scheduler.step(metric)
            if i == 5:
                state = copy.deepcopy(scheduler.state_dict())
                scheduler = make()
                scheduler.load_state_dict(state)
            found.append(optimizer.param_groups[0]["lr"])
        return found

    assert rates(weir) == rates(torch)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "NAdam", "RAdam", "RMSprop", "Adadelta", "Adamax"])
def test_squares_of_half_gradients_do_not_overflow_before_they_are_scaled(name):
    states = []
    for F in (torch, weir):
        p = F.ones(3, dtype=F.float16, requires_grad=True)
        p.grad = F.tensor([300.0, -2.0, 0.001], dtype=F.float16)
        optimizer = getattr(F.optim, name)([p], lr=0.1)
        for _ in range(3):
            optimizer.step()
        states.append([p.detach(), *(value for value in optimizer.state[p].values() if F.is_tensor(value))])
    for e, a in zip(*states):
        assert_close(a, e, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("name, options", [
    ("Adam", dict(betas=(0.0, 0.999))), ("Adamax", dict(betas=(0.0, 0.999))), ("NAdam", dict(betas=(0.0, 0.999))),
    ("RAdam", dict(betas=(0.0, 0.999))), ("RMSprop", dict(alpha=0.0, centered=True)), ("Adam", dict(betas=(0.3, 0.999)))], ids=str)
def test_a_large_mean_leaves_nothing_behind_where_it_is_replaced(name, options):
    means = []
    for F in (torch, weir):
        p = F.ones(2, requires_grad=True)
        optimizer = getattr(F.optim, name)([p], lr=1e-3, **options)
        for grad in ([-1093.82763671875, 3e7], [2.1, 0.3]):
            p.grad = F.tensor(grad)
            optimizer.step()
        means.append(optimizer.state[p]["grad_avg" if name == "RMSprop" else "exp_avg"])
    assert_close(means[1], means[0], rtol=1e-7, atol=0)


def test_complex_adagrad_starts_both_parts_with_the_initial_value():
    found = []
    for F in (torch, weir):
        p = F.ones(2, dtype=F.complex64, requires_grad=True)
        p.grad = F.tensor([1 + 2j, 0.5j])
        optimizer = F.optim.Adagrad([p], initial_accumulator_value=0.1)
        optimizer.step()
        found.append(p.detach())
    assert_close(found[1], found[0])


def test_an_optimizer_without_state_keeps_none_for_halves():
    for F in (torch, weir):
        p = F.ones(2, dtype=F.float16, requires_grad=True)
        p.grad = F.ones(2, dtype=F.float16)
        optimizer = F.optim.SGD([p], lr=0.1)
        optimizer.step()
        assert optimizer.state_dict()["state"] == {}


def stepped(F, name, gradients, dtype, **options):
    """A parameter after steps by gradients that are given as lists."""
    p = F.zeros(2, 2, dtype=getattr(F, dtype)).requires_grad_()
    optimizer = getattr(F.optim, name)([p], **options)
    for gradient in gradients:
        p.grad = F.tensor(gradient, dtype=p.dtype)
        optimizer.step()
    return p.detach()


@pytest.mark.parametrize("name, gradient, options", [
    ("RMSprop", [[1e-4, 1e-4], [0.5, 2.0]], {}), ("RMSprop", [[1e-4, 1.0], [0.5, 2.0]], {"centered": True, "momentum": 0.5}),
    ("Adafactor", [[1.2e-7, 3e-3], [-274.0, -9e-4]], {}), ("Adafactor", [[1.0, -2.0], [3.0, 0.25]], {"lr": 0.1})])
def test_halves_are_rounded_where_pytorch_rounds_them(name, gradient, options):
    theirs, ours = (stepped(F, name, [gradient] * 4, "float16", **options) for F in (torch, weir))
    assert_close(ours, theirs, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("max_eval", [2, 5])
def test_a_line_search_ends_with_the_evaluations_that_are_allowed(max_eval):
    def search(F):
        p = F.tensor([1.5, -2.0]).requires_grad_()
        optimizer = F.optim.LBFGS([p], lr=1e-3, max_eval=max_eval, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
            loss.backward()
            return loss
        for _ in range(2):
            optimizer.step(closure)
        return p.detach(), optimizer.state[p]["func_evals"]
    theirs, ours = search(torch), search(weir)
    assert ours[1] == theirs[1]
    assert_close(ours[0], theirs[0], rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64"])
@pytest.mark.parametrize("lr", [0.01, [0.01]], ids=["number", "tensor"])
def test_lbfgs_takes_lr_as_a_number_and_complex_numbers_as_parts(lr, dtype):
    def search(F):
        p = F.tensor([1.0, 2.0, -3.0], dtype=getattr(F, dtype)).requires_grad_()
        optimizer = F.optim.LBFGS([p], lr=F.tensor(lr) if isinstance(lr, list) else lr, max_iter=4)

        def closure():
            optimizer.zero_grad()
            loss = (3 * p * p.conj()).real.sum()
            loss.backward()
            return loss
        for _ in range(2):
            optimizer.step(closure)
        state = optimizer.state[p]
        return p.detach(), state["d"].dtype, state["func_evals"]
    theirs, ours = search(torch), search(weir)
    assert str(ours[1]).split(".")[1] == str(theirs[1]).split(".")[1] and ours[2] == theirs[2]
    assert_close(ours[0], theirs[0], rtol=2e-3 if dtype == "float16" else 1e-5)


def test_an_option_that_needs_state_which_is_not_there():
    for t in (torch, weir):
        p = t.nn.Parameter(t.ones(3))
        p.grad = t.ones(3)
        optimizer = t.optim.Adam([p])
        optimizer.step()
        optimizer.param_groups[0]["amsgrad"] = True
        with pytest.raises(KeyError, match="max_exp_avg_sq"):
            optimizer.step()
        optimizer.state.clear()  # begun anew
        optimizer.step()
        assert float(optimizer.state[p]["step"]) == 1


def test_momentum_goes_on_with_a_buffer_that_the_program_gives():
    seen = []
    for t in (torch, weir):
        p = t.nn.Parameter(t.ones(3))
        optimizer = t.optim.SGD([p], lr=0.1, momentum=0.9, dampening=0.5)
        for step in range(4):
            p.grad = t.full((3,), float(step + 1))
            optimizer.step()
            if step == 1:
                optimizer.state[p]["momentum_buffer"] = t.full((3,), 7.0)
            if step == 2:
                del optimizer.state[p]["momentum_buffer"]
        seen.append(p.tolist())
    assert seen[0] == pytest.approx(seen[1])


def test_a_class_may_have_gradients_of_its_own():
    """The step asks the parameter for its gradient, as programs do that keep it elsewhere."""
    def stepped(torch):
        class Elsewhere(torch.nn.Parameter):
            @property
            def grad(self):
                return self.__dict__.get("kept")

        params = [Elsewhere(torch.ones(3)) for _ in range(2)]
        params[0].kept = torch.arange(3.0)
        torch.optim.SGD(params, lr=0.5, foreach=False).step()
        return [p.tolist() for p in params]

    assert stepped(weir) == stepped(torch) == [[1.0, 0.5, 0.0], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "ASGD"])
def test_loaded_state_is_shared(name):
    """Two optimizers go on with the same tensors, unless a program copies them."""
    def stepped(torch):
        params = [torch.nn.Parameter(torch.ones(3)) for _ in range(2)]
        options = {"momentum": 0.9} if name == "SGD" else {}
        first, second = (getattr(torch.optim, name)([p], lr=0.1, **options) for p in params)
        for step in range(4):
            for p, optimizer in zip(params, (first, second)):
                p.grad = torch.full((3,), step + 1.0)
                optimizer.step()
            if step == 0:
                state = first.state_dict()
                state["state"][0]["other"] = [torch.zeros(2), (torch.zeros(1), "text")]
                second.load_state_dict(state)
                second.state[params[1]]["other"][0].fill_(5)
        return [p.tolist() for p in params], state["state"][0]["other"][0].tolist()

    for ours, theirs in zip(stepped(weir)[0], stepped(torch)[0]):
        assert ours == pytest.approx(theirs)
    assert stepped(weir)[1] == stepped(torch)[1]


def test_loaded_state_takes_the_parameters_dtype():
    for t in (torch, weir):
        p = t.nn.Parameter(t.ones(3, dtype=t.float16))
        optimizer = t.optim.Adam([p])
        saved = {"step": t.tensor(3.0), "exp_avg": t.ones(3), "exp_avg_sq": t.ones(3, dtype=t.int64)}
        optimizer.load_state_dict({**optimizer.state_dict(), "state": {0: saved}})
        assert {name: str(value.dtype).split(".")[1] for name, value in optimizer.state[p].items()} == {
            "step": "float32", "exp_avg": "float16", "exp_avg_sq": "float16"}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name, options", [("Adagrad", {}), ("Adagrad", {"weight_decay": 0.1, "lr_decay": 0.1, "maximize": True}), ("Adam", {}), ("AdamW", {}),
                                           ("Adam", {"amsgrad": True, "weight_decay": 0.01, "maximize": True})])
def test_fused_steps_of_halves_round_what_they_store_only(name, options, dtype):
    found = []
    for t in (weir, torch):
        p = t.tensor([0.0012302398681640625, 0.298828125, -0.274169921875, -0.890625], dtype=getattr(t, dtype)).requires_grad_()
        other = t.ones(2, requires_grad=True)
        optimizer = getattr(t.optim, name)([p, other], lr=0.01, fused=True, **options)
        for grad in ([1.1920928955078125e-07, 0.002986907958984375, -274.25, -0.0008907318115234375], [0.1, 0.2, 0.3, -0.4], [1e-3, -2e-5, 3.0, 7.0]):
            p.grad, other.grad = t.tensor(grad, dtype=p.dtype), t.ones(2)
            optimizer.step()
        state = optimizer.state_dict()["state"][0]
        found.append([p.tolist(), *(state[key].tolist() for key in sorted(state))])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "Adamax", "NAdam", "RAdam", "ASGD", "Rprop"])
def test_a_graph_steps_complex_parameters_as_eager_mode(name):
    """Bit for bit, by one update for both: what one step counts depends on powers of its number."""
    def trained(traced):
        p = weir.tensor([1 + 2j, -0.5 + 1j, 3j], dtype=weir.complex128, requires_grad=True)
        optimizer = getattr(weir.optim, name)([p], lr=0.1, weight_decay=0.1) if name != "Rprop" else weir.optim.Rprop([p], lr=0.1)

        class Program(weir.nn.Graph):
            def __init__(self):
                super().__init__()
                self.add_optimizer(optimizer)

            def build(self, grad):
                p.grad = grad
        program = Program()
        for i in range(8):
            grad = weir.tensor([0.3 * i + 1j, 2 - 0.7j * i, 0.1j], dtype=weir.complex128)
            if traced:
                program(grad)
            else:
                p.grad = grad
                optimizer.step()
        return p.tolist()
    assert trained(True) == trained(False)


@pytest.mark.parametrize("name", ["Adam", "RMSprop", "RAdam", "LBFGS"])
def test_a_parameter_that_is_a_conjugate_is_refused_and_not_left_as_it_is(name):
    """Its parts would be those of a copy. Its gradient may be one."""
    for F in (torch, weir):
        p = F.tensor([1 + 2j, 3j]).conj().requires_grad_()
        optimizer = getattr(F.optim, name)([p], lr=0.1)

        def closure():
            (p * p.conj()).real.sum().backward()
            return F.zeros(())

        with pytest.raises(RuntimeError, match="conj"):
            optimizer.step(closure)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "Adagrad"])
@pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])
def test_fused_steps_need_parameters_with_memory(name, F):
    p = F.ones(2, device="meta").requires_grad_()
    with pytest.raises(RuntimeError):
        optimizer = getattr(F.optim, name)([p], fused=True)
        p.grad = F.ones(2, device="meta")
        optimizer.step()
