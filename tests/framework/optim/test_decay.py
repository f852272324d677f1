"""OneFlow's schedules against their formulas."""

import math

import pytest
import weir
from weir.optim.lr_scheduler import CosineDecayLR, ExponentialLR, PolynomialDecayLR, WarmUpLR


def rates(make, steps=12, lr=0.4):
    optimizer = weir.optim.SGD([weir.nn.Parameter(weir.ones(1))], lr=lr)
    schedule, found = make(optimizer), []
    for _ in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return found


def test_cosine_decay_ends_at_alpha():
    found = rates(lambda o: CosineDecayLR(o, 8, alpha=0.1))
    assert found == pytest.approx([0.4 * (0.9 * 0.5 * (1 + math.cos(math.pi * min(t, 8) / 8)) + 0.1) for t in range(12)])
    assert found[-1] == pytest.approx(0.04)


@pytest.mark.parametrize("cycle", [False, True])
def test_polynomial_decay(cycle):
    found = rates(lambda o: PolynomialDecayLR(o, 5, end_learning_rate=0.1, power=2.0, cycle=cycle))
    for t, rate in enumerate(found):
        length = 5 * max(math.ceil(t / 5), 1) if cycle else 5
        assert rate == pytest.approx(0.3 * (1 - min(t, length) / length) ** 2 + 0.1)


def test_a_linear_warm_up_leads_to_the_schedule_that_runs_beneath():
    found = rates(lambda o: WarmUpLR(ExponentialLR(o, 0.9), warmup_factor=0.5, warmup_iters=4))
    end = 0.4 * 0.9**4
    assert found == pytest.approx([0.2 + (end - 0.2) * t / 4 for t in range(4)] + [0.4 * 0.9**t for t in range(4, 12)])


def test_a_prefix_comes_before_the_schedule():
    found = rates(lambda o: WarmUpLR(ExponentialLR(o, 0.9), warmup_factor=0.5, warmup_iters=4, warmup_prefix=True))
    assert found == pytest.approx([0.2 + 0.2 * t / 4 for t in range(4)] + [0.4 * 0.9**t for t in range(8)])


def test_a_constant_warm_up_of_an_optimizer():
    assert rates(lambda o: WarmUpLR(o, 0.25, 3, "constant"), 5) == pytest.approx([0.1, 0.1, 0.1, 0.4, 0.4])


def test_resumed_rates_go_on_alike():
    def made(optimizer):
        return WarmUpLR(CosineDecayLR(optimizer, 9), 0.5, 4)
    whole = rates(made)
    optimizer = weir.optim.SGD([weir.nn.Parameter(weir.ones(1))], lr=0.4)
    schedule = made(optimizer)
    for _ in range(5):
        schedule.step()
    again = weir.optim.SGD([weir.nn.Parameter(weir.ones(1))], lr=0.4)
    resumed = made(again)
    resumed.load_state_dict(schedule.state_dict())
    for t in range(6, 12):
        resumed.step()
        assert again.param_groups[0]["lr"] == whole[t]


@pytest.mark.parametrize("make", [lambda o: CosineDecayLR(o, 0), lambda o: PolynomialDecayLR(o, 0), lambda o: WarmUpLR(o, warmup_method="no")])
def test_bad_settings_are_refused(make):
    with pytest.raises(ValueError):
        rates(make)
