"""Private methods and attributes that programs override, call or set, beside PyTorch's."""
import warnings

import pytest
import torch
import weir


def put_weights(t):
    """As weight dropping does: forward computes with what stands in _flat_weights, until the module's weights are taken again."""
    t.manual_seed(0)
    rnn, x = t.nn.LSTM(3, 4), t.ones(2, 1, 3)
    first, seen = rnn(x)[0], []
    rnn._flat_weights = [w * 2 for w in rnn._flat_weights]
    seen.append(t.equal(rnn(x)[0], first))
    rnn._init_flat_weights()
    seen.append(t.equal(rnn(x)[0], first))
    rnn._flat_weights = [w * 2 for w in rnn._flat_weights]
    seen.append(t.equal(rnn.to(t.float32)(x)[0], first))
    rnn._flat_weights = [w * 2 for w in rnn._flat_weights]
    for name in rnn._flat_weights_names:
        setattr(rnn, name, t.nn.Parameter(getattr(rnn, name).detach()))
    seen.append(t.equal(rnn(x)[0], first))
    raw = rnn.weight_hh_l0
    del rnn.weight_hh_l0
    rnn.weight_hh_l0_raw = t.nn.Parameter(raw.detach())
    rnn.weight_hh_l0 = rnn.weight_hh_l0_raw * 0
    seen.append(t.equal(rnn(x)[0], first))
    return seen, sorted(name for name, _ in rnn.named_parameters())


def loaded_by_keywords(t):
    missing, unexpected, errors = [], [], []
    t.nn.BatchNorm1d(2)._load_from_state_dict(state_dict={"p.x": t.ones(1)}, prefix="p.", local_metadata={}, strict=True, missing_keys=missing,
                                              unexpected_keys=unexpected, error_msgs=errors)
    return missing, unexpected, errors


def own_call(t):
    log = []

    class Own(t.nn.Linear):
        def _call_impl(self, *args, **kwargs):
            log.append("own")
            return super()._call_impl(*args, **kwargs)

    class Derived(Own):
        pass
    plain = t.nn.Linear(2, 2)
    for module in (Own(2, 2), Derived(2, 2), plain):
        module.register_forward_hook(lambda *a: log.append("hook"))
        module(t.ones(1, 2))
    plain._call_impl(t.ones(1, 2))
    plain._slow_forward(t.ones(1, 2))
    return log


def replica(t):
    module = t.nn.BatchNorm1d(2)
    copy = module._replicate_for_data_parallel()
    return copy._parameters, sorted(copy._buffers), copy._is_replica, type(copy) is type(module), len(list(module.parameters()))


def hooks_by_kind(t):
    full, older = t.nn.Linear(1, 1), t.nn.Linear(1, 1)
    kinds = [older._is_full_backward_hook]
    full.register_full_backward_hook(lambda *a: None)
    older.register_backward_hook(lambda *a: None)
    for module, other in ((full, "register_backward_hook"), (older, "register_full_backward_hook")):
        with pytest.raises(RuntimeError, match="Cannot use both"):
            getattr(module, other)(lambda *a: None)
        kinds += [module._is_full_backward_hook, [len(hooks) for hooks in module._get_backward_hooks()], len(module._get_backward_pre_hooks())]
    return kinds


def schedules(t):
    log = []

    class Own(t.optim.lr_scheduler.StepLR):
        def _update_lr(self, epoch=None):
            log.append(epoch)
            super()._update_lr(epoch)

    class Worse(t.optim.lr_scheduler.ReduceLROnPlateau):
        def _is_better(self, a, best):
            return False
    optimizer = t.optim.SGD([t.ones(1)], 0.1)
    schedule = Own(optimizer, 1)
    optimizer.step()
    schedule.step()
    plateau = Worse(optimizer, patience=0)
    plateau.step(1.0)
    return log, schedule.get_last_lr(), plateau._last_lr, sorted(schedule.state_dict())


@pytest.mark.parametrize("program", [put_weights, loaded_by_keywords, own_call, replica, hooks_by_kind, schedules])
def test_as_pytorch(program):
    assert program(weir) == program(torch)


def _seen(t, module, args, back, hook=None, all_modules=False):
    log = []

    def listen(m, grad_input, grad_output):
        log.append([type(m).__name__, *([None if g is None else g.tolist() for g in grads] for grads in (grad_input, grad_output))])
        return hook and hook(grad_input)
    register = t.nn.modules.module.register_module_backward_hook if all_modules else module.register_backward_hook
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        handle = register(listen)
        try:
            back(module(*args))
        finally:
            handle.remove()
    return log, [(w.category.__name__, str(w.message)) for w in told], [None if a.grad is None else a.grad.tolist() for a in args]


def _of(t, forward):
    class Own(t.nn.Module):
        pass
    Own.forward = lambda self, *args: forward(*args)
    return Own()


OLDER = {
    "two nodes": (lambda t: _of(t, lambda a: (a * 2) * 3), 1, lambda y: y.sum().backward()),
    "one node": (lambda t: t.nn.ReLU(), 1, lambda y: y.sum().backward()),
    "two results": (lambda t: _of(t, lambda a, b: (a * 2, b * 3)), 2, lambda y: (y[0].sum() + y[1].sum()).backward()),
    "a dict": (lambda t: _of(t, lambda a: {"x": a * 2}), 1, lambda y: y["x"].sum().backward()),
    "a list": (lambda t: _of(t, lambda a: [a * 2]), 1, lambda y: y[0].sum().backward()),
    "what it was given": (lambda t: _of(t, lambda a: a), 1, lambda y: y.sum().backward()),
    "parts": (lambda t: t.nn.Sequential(t.nn.LeakyReLU(), t.nn.ReLU()), 1, lambda y: y.sum().backward()),
}


@pytest.mark.parametrize("name", OLDER)
@pytest.mark.parametrize("all_modules", [False, True])
def test_a_hook_of_the_older_kind_sees_the_last_node_and_says_what_it_misses(name, all_modules, monkeypatch):
    monkeypatch.setattr(torch.nn.modules.module, "_global_is_full_backward_hook", None)  # for good, once there is a hook of a kind
    monkeypatch.setattr(weir.nn.modules._hooks, "_full_backward_hooks", None)
    make, count, back = OLDER[name]
    results = [_seen(t, make(t), [t.ones(2, requires_grad=True) for _ in range(count)], back, all_modules=all_modules) for t in (weir, torch)]
    assert results[0] == results[1]


def test_a_hook_of_the_older_kind_changes_the_gradient():
    results = [_seen(t, t.nn.ReLU(), [t.ones(2, requires_grad=True)], lambda y: y.sum().backward(), lambda grads: tuple(g * 3 for g in grads)) for t in (weir, torch)]
    assert results[0] == results[1] and results[0][2] == [[3.0, 3.0]]


@pytest.mark.parametrize("name", sorted(n for n in torch.nn.modules.__all__ if isinstance(getattr(torch.nn, n), type)))
def test_modules_have_the_bases_that_programs_ask_for(name):
    """Counters of FLOPs and converters keep tables by base classes (thop: nn.modules.padding._ReflectionPadNd)."""
    theirs, ours = getattr(torch.nn, name), getattr(weir.nn, name)
    bases = [base for base in theirs.__mro__ if base.__module__.startswith("torch.nn")]
    assert {base.__name__ for base in bases} <= {base.__name__ for base in ours.__mro__}
    for base in bases:
        module = weir.nn.modules
        for part in base.__module__.split(".")[3:]:
            module = getattr(module, part)
        assert issubclass(ours, getattr(module, base.__name__)), base


def test_the_bases_that_mmengine_imports():
    from weir.nn.modules.batchnorm import SyncBatchNorm, _BatchNorm, _InstanceNorm
    from weir.nn.modules.conv import _ConvNd, _ConvTransposeMixin
    from weir.nn.modules.pooling import _AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd, _AvgPoolNd, _MaxPoolNd
    assert issubclass(_ConvTransposeMixin, _ConvNd) and issubclass(SyncBatchNorm, _BatchNorm) and not issubclass(_InstanceNorm, _BatchNorm)
    for base, name in ((_AdaptiveAvgPoolNd, "AdaptiveAvgPool2d"), (_AdaptiveMaxPoolNd, "AdaptiveMaxPool1d"), (_AvgPoolNd, "AvgPool1d"), (_MaxPoolNd, "MaxPool3d")):
        assert issubclass(getattr(weir.nn, name), base)
