"""Loss scaling, step by step beside PyTorch's, with the methods that scalers of sharded parameters override."""
import pickle
import warnings

import pytest
import torch
import weir


def _told(call):
    try:
        return call()
    except (AssertionError, RuntimeError, ValueError) as error:
        return type(error).__name__, str(error)


def _scaler(t, **options):
    p = t.nn.Parameter(t.ones(2))
    return p, t.optim.SGD([p], 0.1), t.amp.GradScaler("cpu", **options)


def some_steps(t):
    p, optimizer, scaler = _scaler(t, init_scale=4.0, growth_interval=2)
    log = [_told(scaler.update), _told(lambda: scaler.step(optimizer)), _told(lambda: scaler.unscale_(optimizer)), scaler.state_dict(), scaler._scale]
    for k in range(4):
        optimizer.zero_grad()
        scaler.scale((p * p).sum() * (float("inf") if k == 2 else 1.0)).backward()
        if k % 2:
            scaler.unscale_(optimizer)
            log += [p.grad.tolist(), _told(lambda: scaler.unscale_(optimizer)), _told(lambda: pickle.dumps(scaler))]
        scaler.step(optimizer)
        log += [_told(lambda: scaler.step(optimizer)), _told(lambda: scaler.unscale_(optimizer))]
        scaler.update()
        log += [p.tolist(), scaler.state_dict(), scaler._scale.item(), scaler._growth_tracker.item()]
    return log


def no_gradients_and_new_scales(t):
    p, optimizer, scaler = _scaler(t)
    scaler.scale(p.sum())
    log = [_told(lambda: scaler.step(optimizer)), _told(scaler.update)]
    for new in (8.0, t.tensor(16.0), t.tensor([1.0, 2.0])):
        log += [_told(lambda: scaler.update(new)), scaler.get_scale()]
    return log


def gradients_of_halves(t):
    p, optimizer, scaler = _scaler(t)
    p.data = p.data.half()
    scaler.scale(p.sum()).backward()
    return _told(lambda: scaler.step(optimizer))


def passed_on(t):
    class Old(t.optim.Optimizer):
        _step_supports_amp_scaling = True

        def step(self, closure=None, *, grad_scaler=None):
            log.append((grad_scaler is scaler, hasattr(self, "grad_scale")))

    log = []
    p, _, scaler = _scaler(t)
    scaler.scale(p.sum()).backward()
    with pytest.warns(FutureWarning, match="grad_scaler|keyword argument"):
        scaler.step(Old([p], {}))
    return log


def overridden(t):
    log = []

    class Sharded(t.amp.GradScaler):
        def _unscale_grads_(self, optimizer, inv_scale, found_inf, allow_fp16):
            log.append((inv_scale.item(), found_inf.item(), allow_fp16))
            return super()._unscale_grads_(optimizer, inv_scale, found_inf, allow_fp16)

        def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
            log.append([found.item() for found in optimizer_state["found_inf_per_device"].values()])
            return super()._maybe_opt_step(optimizer, optimizer_state, *args, **kwargs)
    p, optimizer, _ = _scaler(t)
    scaler = Sharded("cpu")
    for factor in (1.0, float("nan")):
        scaler.scale(p.sum() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
    return log, p.tolist()


def steps_that_unscale(t):
    log = []

    class Own(t.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            log.append([None if x is None else float(x) for x in (self.grad_scale, self.found_inf)])
    p, _, scaler = _scaler(t)
    optimizer = Own([p], 0.1)
    for unscales in (False, True):
        scaler.scale(p.sum()).backward()
        if unscales:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    return log, p.grad.tolist(), hasattr(optimizer, "grad_scale")


def carried_over(t):
    _, optimizer, scaler = _scaler(t, init_scale=2.0)
    p = optimizer.param_groups[0]["params"][0]
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    again, fresh = pickle.loads(pickle.dumps(scaler)), t.amp.GradScaler("cpu")
    fresh.load_state_dict(scaler.state_dict())
    return again.state_dict(), again._scale, fresh.state_dict()


@pytest.mark.parametrize("program", [some_steps, no_gradients_and_new_scales, gradients_of_halves, passed_on, overridden, steps_that_unscale, carried_over])
def test_as_pytorch(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = program(weir), program(torch)
    assert _without_pickles(ours) == _without_pickles(theirs)


def _without_pickles(value):
    return [_without_pickles(v) for v in value] if isinstance(value, (list, tuple)) else "pickle" if isinstance(value, bytes) else value
