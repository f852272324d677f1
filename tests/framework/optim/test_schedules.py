"""Every schedule sets PyTorch's very rates over 200 steps, alone, chained and resumed."""

import copy
import math
import types
import warnings

import pytest
import torch
import weir


def run(framework, make, metric, resume):
    """The rates and momenta of two groups after each step; at step `resume` both are built anew and loaded."""
    params = [framework.nn.Parameter(framework.ones(2, dtype=framework.float64)) for _ in range(2)]

    def build():
        groups = [dict(params=params[:1], lr=0.37), dict(params=params[1:], lr=0.011)]
        optimizer = framework.optim.SGD(groups, lr=0.1, momentum=0.9)
        return optimizer, make(framework, framework.optim.lr_scheduler, optimizer)
    optimizer, scheduler = build()
    rates = []
    for i in range(200):
        for p in params:
            p.grad = framework.ones(2, dtype=framework.float64)
        optimizer.step()
        scheduler.step(*([math.sin(i / 9.0)] if metric else []))
        rates.append([g[key] for g in optimizer.param_groups for key in ("lr", "momentum")] + list(scheduler.get_last_lr()))
        if i == resume:
            states = copy.deepcopy((optimizer.state_dict(), scheduler.state_dict()))
            optimizer, scheduler = build()
            optimizer.load_state_dict(states[0]), scheduler.load_state_dict(states[1])
    return rates


SCHEDULES = {
    "LambdaLR": lambda f, s, o: s.LambdaLR(o, [lambda e: 0.95**e, lambda e: 1 / (e + 1)]),
    "MultiplicativeLR": lambda f, s, o: s.MultiplicativeLR(o, lambda e: 0.97),
    "StepLR": lambda f, s, o: s.StepLR(o, 7, 0.3),
    "MultiStepLR": lambda f, s, o: s.MultiStepLR(o, [5, 5, 30, 90], 0.5),
    "ConstantLR": lambda f, s, o: s.ConstantLR(o, 0.3, 17),
    "LinearLR": lambda f, s, o: s.LinearLR(o, 0.1, 0.9, 50),
    "ExponentialLR": lambda f, s, o: s.ExponentialLR(o, 0.98),
    "PolynomialLR": lambda f, s, o: s.PolynomialLR(o, 70, 2.3),
    "CosineAnnealingLR": lambda f, s, o: s.CosineAnnealingLR(o, 31, 0.001),
    "CosineAnnealingWarmRestarts": lambda f, s, o: s.CosineAnnealingWarmRestarts(o, 7, 2, 0.001),
    "warm restarts of one length": lambda f, s, o: s.CosineAnnealingWarmRestarts(o, 7),
    "CyclicLR": lambda f, s, o: s.CyclicLR(o, 0.001, 0.1, 13),
    "CyclicLR triangular2": lambda f, s, o: s.CyclicLR(o, 0.001, 0.1, 13, 7, mode="triangular2"),
    "CyclicLR exp_range": lambda f, s, o: s.CyclicLR(o, 0.001, 0.1, 13, mode="exp_range", gamma=0.99),
    "CyclicLR scale_fn": lambda f, s, o: s.CyclicLR(o, 0.001, 0.1, 13, scale_fn=lambda x: 0.9**x, scale_mode="iterations",
                                                    cycle_momentum=False),
    "OneCycleLR": lambda f, s, o: s.OneCycleLR(o, 0.3, total_steps=250),
    "OneCycleLR of three phases": lambda f, s, o: s.OneCycleLR(o, [0.3, 0.2], epochs=30, steps_per_epoch=10, three_phase=True,
                                                               anneal_strategy="linear"),
    "SequentialLR": lambda f, s, o: s.SequentialLR(o, [s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.9)], [20]),
    "SequentialLR of three": lambda f, s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1, 10), s.CosineAnnealingLR(o, 50), s.StepLR(o, 10)], [10, 60]),
    "SequentialLR with restarts": lambda f, s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, 1, 10), s.CosineAnnealingWarmRestarts(o, 10)], [10]),
    "ChainedScheduler": lambda f, s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 20), s.ExponentialLR(o, 0.99), s.StepLR(o, 33)]),
    "ChainedScheduler of cosines": lambda f, s, o: s.ChainedScheduler([s.LinearLR(o, 0.1, 1, 20), s.CosineAnnealingLR(o, 40)]),
    "ReduceLROnPlateau": lambda f, s, o: s.ReduceLROnPlateau(o, "min", 0.5, 3, threshold=0.01, cooldown=2),
    "ReduceLROnPlateau max": lambda f, s, o: s.ReduceLROnPlateau(o, "max", 0.5, 3, threshold_mode="abs", min_lr=[1e-3, 1e-4]),
    "SWALR": lambda f, s, o: f.optim.swa_utils.SWALR(o, 0.05, 30),
    "SWALR linear": lambda f, s, o: f.optim.swa_utils.SWALR(o, [0.05, 0.1], 30, "linear"),
}


@pytest.mark.parametrize("resume", [None, 77])
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_very_rates(name, resume):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = (run(f, SCHEDULES[name], "Plateau" in name, resume) for f in (torch, weir))
    assert actual == expected


def _with_a_tensor(t, name, options):
    """Rates of steps of a schedule over a rate that is a tensor; is it still that tensor, and are the first rates as they were?"""
    rate = t.tensor(0.1, dtype=t.float64)
    optimizer = t.optim.SGD([t.nn.Parameter(t.zeros(1))], lr=rate, momentum=0.9)
    schedule = getattr(t.optim.lr_scheduler, name)(optimizer, **options(t))
    rates = []
    for epoch in range(6):
        optimizer.step()
        schedule.step(*([float(epoch)] if name == "ReduceLROnPlateau" else []))
        rates.append(float(optimizer.param_groups[0]["lr"]))
    group = optimizer.param_groups[0]
    return rates, group["lr"] is rate, float(group.get("initial_lr", 0.1)), [float(x) for x in getattr(schedule, "base_lrs", [])]


@pytest.mark.parametrize("name, options", [
    ("StepLR", lambda t: {"step_size": 2}), ("LambdaLR", lambda t: {"lr_lambda": lambda e: 0.5 ** e}), ("ExponentialLR", lambda t: {"gamma": 0.5}),
    ("CosineAnnealingLR", lambda t: {"T_max": 4}), ("LinearLR", lambda t: {}), ("ReduceLROnPlateau", lambda t: {"patience": 1}),
    ("OneCycleLR", lambda t: {"max_lr": 0.5, "total_steps": 10}), ("CyclicLR", lambda t: {"base_lr": 0.1, "max_lr": 0.4, "step_size_up": 2})])
def test_a_rate_that_is_a_tensor_keeps_its_place(name, options):
    ours, theirs = _with_a_tensor(weir, name, options), _with_a_tensor(torch, name, options)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-12) and ours[1:] == theirs[1:]


def order_of_steps(t, situation):
    """The warnings of two steps of a schedule."""
    optim = t.optim.SGD([t.nn.Parameter(t.ones(2))], lr=0.1)
    if situation == "replaced before":
        optim.step = types.MethodType(lambda self: None, optim)
    schedule = t.optim.lr_scheduler.ExponentialLR(optim, 0.9)
    if situation == "replaced after":
        optim.step = types.MethodType(lambda self: None, optim)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        if situation != "schedule first":
            optim.step()
        schedule.step()
        optim.step()
        schedule.step()
    return [(w.category, str(w.message).split("`")[:2]) for w in seen]


@pytest.mark.parametrize("situation", ["as it should be", "schedule first", "replaced before", "replaced after"])
def test_a_schedule_that_steps_before_its_optimizer_warns(situation):
    assert order_of_steps(weir, situation) == order_of_steps(torch, situation)


def test_a_schedule_of_what_is_no_optimizer():
    for t in (weir, torch):
        with pytest.raises(TypeError, match="not an Optimizer"):
            t.optim.lr_scheduler.ExponentialLR(object(), 0.9)


def wrong_schedules(t):
    """The classes of errors, or None, of options that fit no group."""
    def optimizer():
        return t.optim.SGD([{"params": [t.nn.Parameter(t.ones(2))]}, {"params": [t.nn.Parameter(t.ones(2))]}], lr=0.1, momentum=0.9)
    L = t.optim.lr_scheduler
    makers = [lambda: L.MultiplicativeLR(optimizer(), 0.95), lambda: L.LambdaLR(optimizer(), [abs, 3]), lambda: L.LambdaLR(optimizer(), [abs]),
              lambda: t.optim.swa_utils.SWALR(optimizer(), [1.0, 0.1, 0.2]), lambda: L.CyclicLR(optimizer(), [0.1], 0.2),
              lambda: L.CyclicLR(optimizer(), 0.1, 0.2, base_momentum=[0.8]), lambda: L.OneCycleLR(optimizer(), [0.1] * 3, total_steps=4)]
    seen = []
    for make in makers:
        try:
            make()
            seen.append(None)
        except Exception as error:
            seen.append(type(error).__name__)
    return seen


def test_options_that_fit_no_group_are_refused():
    assert wrong_schedules(weir) == wrong_schedules(torch)


def test_a_plateau_says_that_groups_came_later():
    for t in (weir, torch):
        for least, error in ((0, None), ([0, 0], RuntimeError)):
            optimizer = t.optim.SGD([{"params": [t.nn.Parameter(t.ones(2))]}, {"params": [t.nn.Parameter(t.ones(2))]}], lr=0.1)
            schedule = t.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=least)
            optimizer.add_param_group({"params": [t.nn.Parameter(t.ones(2))], "lr": 0.5})
            schedule.step(1)
            if error is None:
                schedule.step(2)
                assert optimizer.param_groups[2]["lr"] == 0.05
            else:
                with pytest.raises(error):
                    schedule.step(2)


def test_bounds_given_as_tensors_are_copied():
    for t in (weir, torch):
        most = t.tensor(0.9)
        optimizer = t.optim.SGD([t.nn.Parameter(t.ones(2))], lr=0.1, momentum=0.5)
        schedule = t.optim.lr_scheduler.CyclicLR(optimizer, 0.1, t.tensor(0.2), max_momentum=most)
        most.mul_(0.5)
        assert float(optimizer.param_groups[0]["max_momentum"]) == pytest.approx(0.9) and float(schedule.max_lrs[0]) == pytest.approx(0.2)
        warm = t.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=4)
        warm.T_cur = 7
        warm.step()
        assert warm.T_cur == 0
