"""Hooks on all modules: the order and the arguments of what they see, against PyTorch."""

import pytest
import torch
import weir


def net(t):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.ReLU(), t.nn.Linear(4, 2))


def name(module):
    return type(module).__name__


def everything(t):
    """What hooks on all modules and a module's own see, in order, and the gradients."""
    m, seen, handles = t.nn.modules.module, [], []
    model = net(t)
    handles.append(m.register_module_forward_pre_hook(lambda mod, args: seen.append(("pre", name(mod), len(args)))))
    handles.append(m.register_module_forward_hook(lambda mod, args, out: seen.append(("forward", name(mod), tuple(out.shape)))))
    handles.append(m.register_module_forward_hook(lambda mod, args, kwargs, out: seen.append(("kwargs", name(mod), kwargs)), with_kwargs=True))
    handles.append(m.register_module_full_backward_pre_hook(lambda mod, out: seen.append(("backward pre", name(mod), len(out)))))
    handles.append(m.register_module_full_backward_hook(lambda mod, i, o: seen.append(("backward", name(mod), len(i), len(o)))))
    handles.append(model[0].register_forward_hook(lambda mod, args, out: seen.append(("own", name(mod)))))
    handles.append(model[0].register_forward_pre_hook(lambda mod, args: seen.append(("own pre", name(mod)))))
    x = t.ones(2, 3, requires_grad=True)
    model(x).sum().backward()
    for handle in handles:
        handle.remove()
    count = len(seen)
    model(x)
    return seen, len(seen) - count, x.grad.tolist()


def test_all_kinds_in_order():
    ours, theirs = everything(weir), everything(torch)
    assert ours[:2] == theirs[:2]
    torch.testing.assert_close(torch.tensor(ours[2]), torch.tensor(theirs[2]))


def replacing(t):
    m = t.nn.modules.module
    model, x = net(t), t.ones(2, 3)
    with m.register_module_forward_pre_hook(lambda mod, args: (args[0] * 2,)), m.register_module_forward_hook(lambda mod, args, out: out + 1):
        changed = model(x).tolist()
    return changed, model(x).tolist()


def test_results_take_the_place_of_what_was_given():
    torch.testing.assert_close(torch.tensor(replacing(weir)), torch.tensor(replacing(torch)))


def always(t):
    seen = []
    with t.nn.modules.module.register_module_forward_hook(lambda mod, args, out: seen.append((name(mod), out is None)), always_call=True):
        with pytest.raises(RuntimeError):
            net(t)(t.ones(2, 7))
    return seen


def test_always_call():
    assert always(weir) == always(torch)


def registrations(t):
    m, seen = t.nn.modules.module, []
    with m.register_module_parameter_registration_hook(lambda mod, n, p: seen.append(("parameter", n))), \
            m.register_module_buffer_registration_hook(lambda mod, n, b: seen.append(("buffer", n))), \
            m.register_module_module_registration_hook(lambda mod, n, s: seen.append(("module", n, name(s)))):
        t.nn.Sequential(t.nn.BatchNorm1d(2), t.nn.Linear(2, 1, bias=False))
    t.nn.Linear(2, 2)
    return sorted(seen)


def test_registrations():
    assert registrations(weir) == registrations(torch)


def test_a_registration_may_be_replaced():
    twice = weir.nn.modules.module.register_module_parameter_registration_hook(lambda mod, n, p: weir.nn.Parameter(p.detach() * 0 + 2))
    layer = weir.nn.Linear(2, 1)
    twice.remove()
    layer.weight = weir.nn.Parameter(weir.ones(1, 2))
    assert layer.weight.tolist() == [[1, 1]]


def test_no_cost_without_hooks():
    handle = weir.nn.modules.module.register_module_forward_hook(lambda mod, args, out: None)
    layer = weir.nn.Linear(2, 1)
    layer(weir.ones(1, 2))
    handle.remove()
    layer(weir.ones(1, 2))  # the last call that looks
    assert layer._hooks is None


def tables(t):
    """A module's own tables under PyTorch's names: counted, cleared, replaced."""
    layer, seen = t.nn.Linear(2, 1), []
    layer.register_forward_hook(lambda mod, args, out: seen.append("forward"))
    layer.register_forward_pre_hook(lambda mod, args: seen.append("pre"))
    layer(t.ones(1, 2))
    counts = len(layer._forward_hooks), len(layer._forward_pre_hooks), len(layer._backward_hooks), len(layer._state_dict_hooks)
    layer._forward_hooks.clear()
    layer(t.ones(1, 2))
    layer._forward_pre_hooks = type(layer._forward_pre_hooks)()
    layer(t.ones(1, 2))
    return counts, seen


def test_tables_of_a_module():
    assert tables(weir) == tables(torch)


@pytest.mark.parametrize("kind", ["parameter", "buffer", "module"])
def test_tables_of_registrations(kind):
    def counted(t):
        m = t.nn.modules.module
        table = getattr(m, f"_global_{kind}_registration_hooks")
        handle = getattr(m, f"register_module_{kind}_registration_hook")(lambda *args: None)
        count = len(table)
        handle.remove()
        return count, len(table)
    assert counted(weir) == counted(torch) == (1, 0)
