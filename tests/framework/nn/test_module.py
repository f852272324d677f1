"""The protocol of Module: attributes, state, hooks, casts, containers."""

import copy

import pytest
import torch
import weir
from weir import nn

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def small(F):
    return F.nn.Sequential(F.nn.Linear(3, 4), F.nn.ReLU(), F.nn.BatchNorm1d(4), F.nn.Sequential(F.nn.Linear(4, 2)))


def taken(F):
    model = F.nn.Module()
    model.name = 5
    return model


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


ERRORS = {
    "unassigned parameter": lambda F: setattr(small(F)[0], "weight", 3),
    "module for a name": lambda F: small(F).add_module("a.b", F.nn.ReLU()),
    "empty name": lambda F: small(F).add_module("", F.nn.ReLU()),
    "no module": lambda F: small(F).add_module("x", 3),
    "taken name": lambda F: small(F).register_buffer("forward", None),
    "parameter type": lambda F: small(F).register_parameter("x", F.zeros(2)),
    "attribute": lambda F: small(F).nothing,
    "integer cast": lambda F: small(F).to(F.int64),
    "train mode": lambda F: small(F).train("yes"),
    "missing keys": lambda F: small(F).load_state_dict({}),
    "unexpected key": lambda F: F.nn.ReLU().load_state_dict({"x": F.zeros(1)}),
    "shapes": lambda F: F.nn.Linear(2, 2).load_state_dict({"weight": F.zeros(2, 3), "bias": F.zeros(2)}),
    "no mapping": lambda F: F.nn.ReLU().load_state_dict(3),
    "argument": lambda F: F.nn.Module(1),
    "submodule": lambda F: small(F).get_submodule("0.x"),
    "switch for a dtype": lambda F: small(F).to("cpu", True), "switch for a dtype, no device": lambda F: small(F).to(None, True),
    "tensor for a dtype": lambda F: small(F).to("cpu", F.ones(1)), "no place": lambda F: small(F).to([]), "copy": lambda F: small(F).to("cpu", copy=True),
    "buffer over an attribute": lambda F: setattr(taken(F), "name", F.nn.Buffer(F.zeros(1))),
    "one value for each group": lambda F: F.nn.GroupNorm(5, 5)(F.ones(1, 5, 1)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_torchs(name):
    ours, theirs = raised(lambda: ERRORS[name](weir)), raised(lambda: ERRORS[name](torch))
    assert theirs is not None and ours is not None
    assert ours[0] == theirs[0]
    if name in ("attribute", "missing keys", "unexpected key", "shapes", "no module", "integer cast", "submodule"):
        assert ours[1] == theirs[1].replace("torch.nn.modules", "weir.nn.modules")


def test_repr_and_traversal_match():
    ours, theirs = small(weir), small(torch)
    assert repr(ours) == repr(theirs)
    for walk in ("named_modules", "named_children", "named_parameters", "named_buffers"):
        assert [n for n, _ in getattr(ours, walk)()] == [n for n, _ in getattr(theirs, walk)()]
    assert repr(nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])) == repr(
        torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.ReLU(), torch.nn.Tanh()]))


@FRAMEWORKS
def test_shared_parameters_are_listed_once(F):
    model = F.nn.Module()
    model.a = F.nn.Linear(2, 2)
    model.b = model.a
    assert len(list(model.parameters())) == 2
    assert len(list(model.named_parameters(remove_duplicate=False))) == 4
    assert list(model.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]


@FRAMEWORKS
def test_non_persistent_buffers_stay_out_of_the_state(F):
    model = F.nn.Module()
    model.register_buffer("kept", F.zeros(1))
    model.register_buffer("left", F.zeros(1), persistent=False)
    assert list(model.state_dict()) == ["kept"]
    assert [n for n, _ in model.named_buffers()] == ["kept", "left"]
    model.load_state_dict({"kept": F.ones(1)})
    assert model.kept.item() == 1


@FRAMEWORKS
def test_attributes_move_between_tables(F):
    model = F.nn.Module()
    model.x = 3
    model.x = F.nn.Parameter(F.zeros(1))
    assert "x" in model._parameters and "x" not in model.__dict__
    model.x = None
    assert model.x is None
    del model.x
    model.x = F.nn.ReLU()
    assert "x" in model._modules and "x" not in model._parameters
    del model.x
    assert not hasattr(model, "x")


@FRAMEWORKS
def test_forward_hooks_see_and_replace(F):
    layer, log = F.nn.Linear(2, 2), []
    pre = layer.register_forward_pre_hook(lambda m, args: (args[0] * 0,))
    post = layer.register_forward_hook(lambda m, args, out: log.append(args[0].sum().item()) or out + 1)
    x = F.ones(1, 2)
    assert F.allclose(layer(x), layer.bias + 1) and log == [0.0]
    pre.remove(), post.remove()
    assert F.allclose(layer(x), layer.weight.sum(1) + layer.bias)
    layer.register_forward_pre_hook(lambda m, a, k: (a, {"input": k["input"] * 2}), with_kwargs=True)
    assert F.allclose(layer(input=x), 2 * layer.weight.sum(1) + layer.bias)


@FRAMEWORKS
def test_full_backward_hooks_see_and_replace(F):
    layer, seen = F.nn.Linear(2, 2, bias=False), []
    layer.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].sum().item(), go[0].sum().item())) or (gi[0] * 2,))
    x = F.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    expected = layer.weight.sum(0)
    assert F.allclose(x.grad, 2 * expected)
    assert seen == [(pytest.approx(expected.sum().item()), 2.0)]


@FRAMEWORKS
def test_state_dict_hooks_run(F):
    model = F.nn.Linear(1, 1)
    model.register_state_dict_post_hook(lambda m, state, prefix, meta: state.update(extra=F.zeros(1)) or None)
    assert list(model.state_dict()) == ["weight", "bias", "extra"]


@FRAMEWORKS
def test_load_state_dict_reports_and_assigns(F):
    model, source = small(F), small(F)
    state = source.state_dict()
    del state["0.bias"]
    state["more"] = F.zeros(1)
    result = model.load_state_dict(state, strict=False)
    assert result.missing_keys == ["0.bias"] and result.unexpected_keys == ["more"]
    assert repr(small(F).load_state_dict(source.state_dict())) == "<All keys matched successfully>"
    other = F.nn.Linear(3, 4)
    given = {"weight": F.zeros(4, 3), "bias": F.zeros(4)}
    other.load_state_dict(given, assign=True)
    assert other.weight.data_ptr() == given["weight"].data_ptr()


@FRAMEWORKS
def test_casts_keep_integers_and_gradients(F):
    model = small(F)
    model(F.ones(3, 3)).sum().backward()
    model.to(F.bfloat16)
    assert model[0].weight.dtype == F.bfloat16 and model[0].weight.grad.dtype == F.bfloat16
    assert model[2].num_batches_tracked.dtype == F.int64
    conv = F.nn.Conv2d(2, 4, 3).to(memory_format=F.channels_last)
    assert conv.weight.is_contiguous(memory_format=F.channels_last)
    assert isinstance(model.double()[0].weight, F.nn.Parameter)


@FRAMEWORKS
def test_deepcopy_and_zero_grad(F):
    model = small(F)
    twin = copy.deepcopy(model)
    assert twin[0].weight is not model[0].weight and F.equal(twin[0].weight, model[0].weight)
    model(F.ones(3, 3)).sum().backward()
    model.zero_grad(set_to_none=False)
    assert all(p.grad.abs().sum() == 0 for p in model.parameters())
    model.zero_grad()
    assert all(p.grad is None for p in model.parameters())


@FRAMEWORKS
def test_containers(F):
    model = small(F)
    assert isinstance(model[1:3], F.nn.Sequential) and len(model[1:3]) == 2
    model.append(F.nn.Tanh())
    del model[1]
    assert [n for n, _ in model.named_children()] == ["0", "1", "2", "3"]
    modules = F.nn.ModuleDict({"a": F.nn.ReLU()})
    modules["b"] = F.nn.Tanh()
    assert list(modules) == ["a", "b"] and "a" in modules
    values = F.nn.ParameterList([F.zeros(2), F.ones(3)])
    assert len(list(values.parameters())) == 2 and list(values.state_dict()) == ["0", "1"]
    named = F.nn.ParameterDict({"w": F.zeros(2)})
    assert isinstance(named["w"], F.nn.Parameter) and list(named.keys()) == ["w"]


@FRAMEWORKS
def test_a_state_that_does_not_fit_is_told_whole(F):
    """What fits is loaded, a parameter that takes over another keeps its own requires_grad, and None is no place to load into."""
    model = F.nn.Linear(2, 2, bias=False)
    with pytest.raises(RuntimeError, match="bias"):
        model.load_state_dict({"weight": F.ones(2, 2), "bias": F.ones(2)})
    assert (model.weight == 1).all()
    model.load_state_dict({"weight": F.nn.Parameter(F.zeros(2, 2), requires_grad=False)}, assign=True)
    assert model.weight.requires_grad
    with pytest.raises(TypeError, match="dict-like"):
        model.load_state_dict([("weight", F.ones(2, 2))])
    frozen = F.nn.Linear(2, 2, bias=False, device="meta")
    with pytest.warns(UserWarning, match="no-op"):
        frozen.load_state_dict({"weight": F.ones(2, 2)})


@FRAMEWORKS
def test_an_index_of_a_list_is_a_name_and_one_of_a_sequence_a_place(F):
    """Which tells where a part was added under a name of its own."""
    parts = [F.nn.ReLU(), F.nn.Tanh()]
    for made, names in ((F.nn.ModuleList(parts), ["0", "1", "empty", "2"]), (F.nn.Sequential(*parts), ["0", "1", "empty"])):
        made.add_module("empty", None)
        made[2] = part = F.nn.Sigmoid()
        assert list(made._modules) == names and made[2] is part
        del made[0]
        assert list(made._modules) == [str(i) for i in range(len(names) - 1)]
    made = F.nn.ModuleList(parts)
    made.add_module("name", F.nn.GELU())
    with pytest.raises(KeyError):
        made[2]


@FRAMEWORKS
def test_containers_at_their_edges(F):
    modules = F.nn.ModuleList([F.nn.ReLU()])
    modules.insert(3, F.nn.Tanh())
    assert [name for name, _ in modules.named_children()] == ["0", "3"]
    parameters = F.nn.ParameterDict({"a": F.ones(1)})
    for wrong in (lambda: parameters[3], lambda: parameters.pop(slice(1))):
        with pytest.raises(TypeError, match="not a string"):
            wrong()
    parameters.popitem()
    with pytest.raises(KeyError):
        parameters.popitem()


@FRAMEWORKS
def test_bases_behind_module(F):
    class Mixin:
        def __init__(self, *args, **kwargs):
            self.given = args, kwargs

    class Behind(F.nn.Module, Mixin):
        call_super_init = True

    assert Behind(1, a=2).given == ((1,), {"a": 2})
    assert not hasattr(type("Plain", (F.nn.Module, Mixin), {})(), "given")


@FRAMEWORKS
def test_other_names(F):
    parameter = F.nn.Parameter(F.ones(2))
    parameter._grad = F.zeros(2)
    assert parameter.grad is parameter._grad
    assert F.nn.functional.grad is F.nn.grad
    lazy = F.nn.UninitializedParameter()
    lazy.materialize(3)
    assert lazy.shape == (3,)
    with pytest.warns(UserWarning, match="Complex"):
        F.nn.Linear(2, 2).to(F.complex64)


@FRAMEWORKS
def test_conversions_are_asked_of_the_parameter_itself(F):
    model = F.nn.Linear(2, 2)
    weight, saved, seen = model.weight, model.weight * model.weight, []
    weight.grad = gradient = F.ones(2, 2)
    model._apply(lambda t: seen.append(t is weight or t is model.bias or t is gradient) or t.add_(1.0))
    assert all(seen) and len(seen) == 3 and model.weight is weight
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()
    model.double()
    assert model.weight.grad is gradient and gradient.dtype == F.float64 and gradient.tolist() == [[2.0, 2.0], [2.0, 2.0]]
