"""Which methods that a program overrides a call on the parent reaches: its own and those of its children, as in PyTorch."""
import pytest
import torch

import weir

_INNER = {"get_extra_state", "set_extra_state", "_call_impl"}  # no override, or not part of the protocol
_CALLS = {
    "train": lambda t, m: m.train(), "eval": lambda t, m: m.eval(), "to": lambda t, m: m.to("cpu"), "cpu": lambda t, m: m.cpu(),
    "double": lambda t, m: m.double(), "half": lambda t, m: m.half(), "type": lambda t, m: m.type(t.float64), "zero_grad": lambda t, m: m.zero_grad(),
    "state_dict": lambda t, m: m.state_dict(), "load_state_dict": lambda t, m: m.load_state_dict(t.nn.Linear.state_dict(m)),
    "parameters": lambda t, m: list(m.parameters()), "named_buffers": lambda t, m: list(m.named_buffers()), "modules": lambda t, m: list(m.modules()),
    "children": lambda t, m: list(m.children()), "requires_grad_": lambda t, m: m.requires_grad_(False), "apply": lambda t, m: m.apply(lambda _: None),
    "share_memory": lambda t, m: m.share_memory(), "repr": lambda t, m: repr(m), "get_parameter": lambda t, m: m.get_parameter("inner.weight"),
    "to_empty": lambda t, m: m.to_empty(device="cpu"), "register_module": lambda t, m: m.register_module("more", t.nn.ReLU()),
}


def _reached(t, call):
    names = [n for n in dir(torch.nn.Module) if not n.startswith("__") and n not in _INNER and callable(getattr(torch.nn.Module, n))]
    seen, watching = set(), []

    def watched(kind):
        def override(name):
            def method(self, *args, **kwargs):
                if watching:
                    seen.add((kind, name))
                return getattr(t.nn.Linear, name)(self, *args, **kwargs)
            return method
        return type(kind, (t.nn.Linear,), {n: override(n) for n in names if hasattr(t.nn.Linear, n)})

    outer = watched("outer")(2, 2)
    outer.inner = watched("inner")(2, 2)
    watching.append(True)
    call(t, outer)
    return seen


@pytest.mark.parametrize("name", _CALLS)
def test_the_same_overrides_are_reached(name):
    assert _reached(weir, _CALLS[name]) == _reached(torch, _CALLS[name])


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_a_frozen_part_stays_frozen(t):
    class Frozen(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = t.nn.BatchNorm1d(2)

        def train(self, mode=True):
            super().train(mode)
            self.norm.eval()
            return self

    model = t.nn.Sequential(t.nn.Linear(2, 2), Frozen()).eval().train()
    assert model[0].training and model[1].training and not model[1].norm.training


@pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])
def test_blocks_of_transformer_layers_are_overridden_by_name(t):
    def doubled(kind, *blocks):
        return type("Doubled", (kind,), {b: lambda self, *a, _b=b, **k: 2 * getattr(kind, _b)(self, *a, **k) for b in blocks})

    def mean_change(kind, blocks, count):
        outputs = []
        for layer in (kind, doubled(kind, *blocks)):
            t.manual_seed(0)
            outputs.append(layer(4, 2, 8, dropout=0.0)(*[t.arange(24.0).reshape(3, 2, 4).sin()] * count))
        return float((outputs[0] - outputs[1]).abs().mean())

    assert mean_change(t.nn.TransformerEncoderLayer, ("_sa_block",), 1) > 0.01 < mean_change(t.nn.TransformerEncoderLayer, ("_ff_block",), 1)
    assert mean_change(t.nn.TransformerDecoderLayer, ("_sa_block",), 2) > 0.01 < mean_change(t.nn.TransformerDecoderLayer, ("_mha_block",), 2)


def test_dictionaries_of_parameters_are_dictionaries():
    def told(t):
        d = t.nn.ParameterDict({"b": t.ones(1), "a": t.zeros(2)})
        d.update([("d", t.ones(1)), ("c", t.ones(2))])
        log = [list(d), list(reversed(d)), [n for n, _ in d.named_parameters()], list(d | {"z": t.ones(1)}), list(d.copy()), list(d.fromkeys("xy", t.ones(1)))]
        log += [d.setdefault("a").tolist(), d.setdefault("e", t.ones(1)).tolist(), d.popitem()[0], d.get("none", 5), len(d), "a" in d]
        d |= {"q": t.ones(1)}
        log.append(list(d))
        d.clear()
        m = t.nn.ModuleDict({"b": t.nn.ReLU(), "a": t.nn.ReLU()})
        return log + [len(d), list(m)]
    assert told(weir) == told(torch)
