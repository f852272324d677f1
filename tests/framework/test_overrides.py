"""Rules of types and of modes: what they see, against PyTorch."""

import copy
import pickle
import subprocess
import sys

import pytest
import torch
import weir


def modes(t):
    """The names of calls that two modes and a subclass see."""
    seen = []

    class Log(t.overrides.TorchFunctionMode):
        def __init__(self, mark):
            self.mark = mark

        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(self.mark + func.__name__)
            return func(*args, **(kwargs or {}))

    x = t.ones(2, 3, requires_grad=True)
    layer = t.nn.Linear(3, 2)
    with Log(""):
        y = x + 1
        y = 2 * y
        y.sum().backward()
        z = x.detach().add(x.detach())
        z += 1
        z[0] = z[1]
        assert bool((z > 0).any())
        layer(z)
        t.nn.functional.softmax(z @ z.t() / 2 - 1, 0)
        t.cat([t.zeros(2), t.randn(2)]).view(-1)
        -abs(z**2)
        len(z)
        1 - z
    t.add(x, x)
    with Log("outer "), Log("inner "):
        t.mul(x, 2)
        x.exp()

    class Sub(t.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append("sub " + func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    s = t.ones(2).as_subclass(Sub)
    with Log("mode "):
        t.add(s, 1)
    s * 2
    return seen


def test_what_modes_see():
    assert modes(weir) == modes(torch)


def test_functions_and_methods_are_known_by_identity():
    for t in (torch, weir):
        answers = []

        class Known(t.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                answers.append((func is t.add, func is t.Tensor.add, func is t.nn.functional.relu))
                return func(*args, **(kwargs or {}))

        x = t.ones(2)
        with Known():
            t.add(x, x), x.add(x), x + x, t.nn.functional.relu(x)
        assert answers == [(True, False, False), (False, True, False), (False, True, False), (False, False, True)]


def test_a_mode_may_change_results_and_refuse():
    class Double(weir.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {})) * 2

    class Refuse(weir.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Double():
        assert weir.ones(2).tolist() == [2, 2] + [2, 2]  # the list is doubled too
    with pytest.raises(TypeError, match="ones"), Refuse():
        weir.ones(2)
    assert weir.ones(2).tolist() == [1, 1]


def test_methods_are_as_before_after_a_mode():
    before = {n: weir.Tensor.__dict__[n] for n in ("add", "__add__", "__sub__", "__eq__", "__len__", "to")}
    with weir.overrides.BaseTorchFunctionMode():
        assert weir.Tensor.add is not before["add"]
    assert all(weir.Tensor.__dict__[n] is value for n, value in before.items())


def test_tables_made_before_rules_still_hold():
    handled = {weir.mean: lambda s: "mean"}

    class Own(weir.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return handled[func](*args) if func in handled else super().__torch_function__(func, types, args, kwargs or {})

    x = weir.ones(2).as_subclass(Own)
    assert weir.mean(x) == "mean"
    handled[weir.Tensor.add] = lambda a, b: "add"
    assert x + 1 == x.add(1) == "add"
    assert weir.overrides.resolve_name(weir.mean) == "torch.mean"


def test_names_are_known_with_and_without_a_mode():
    def names():
        return [weir.overrides.resolve_name(f) for f in (weir.rand, weir.Tensor.mul, weir.Tensor.__add__, weir.linalg.norm, weir.fft.fft, weir.nn.Module)]

    known = ["torch.rand", "torch.Tensor.mul", "torch.Tensor.add", "torch.linalg.norm", "torch.fft.fft", None]
    assert names() == known
    with weir.overrides.BaseTorchFunctionMode():
        assert names() == known


def test_every_function_with_rules_has_a_stand_in():
    stand_ins = weir.overrides.get_testing_overrides()
    assert {weir.add, weir.nn.functional.relu, weir.fft.rfft, weir.Tensor.add} <= stand_ins.keys() and weir.rand not in stand_ins
    assert stand_ins[weir.add](1, other=2) == -1


def test_functions_of_fft_ask_for_rules():
    seen = []

    class Logs(weir.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(weir.overrides.resolve_name(func))
            return func(*args, **kwargs or {})

    with Logs():
        weir.fft.rfft(weir.ones(4))
    assert "torch.fft.rfft" in seen


def test_functions_travel_by_name_once_rules_exist():
    class Any(weir.Tensor):
        pass

    for function in (weir.relu, weir.nn.functional.gelu, weir.linalg.det):
        assert copy.deepcopy(function) is function and pickle.loads(pickle.dumps(function)) is function


def test_rules_outlive_a_trace():
    class Any(weir.Tensor):
        pass

    asking = weir.relu
    graph = weir.fx.symbolic_trace(lambda x: weir.relu(x) + 1)
    assert weir.relu is asking and [n.name for n in graph.graph.nodes][1] == "relu"


def test_rules_may_be_switched_off():
    for t in (torch, weir):
        seen = []

        class Log(t.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                seen.append(func.__name__)
                return func(*args, **(kwargs or {}))

        with Log():
            with t._C.DisableTorchFunction():
                t.ones(2)
            t.zeros(2)
        assert seen == ["zeros"]


def test_a_tensor_of_pytorchs_is_no_type_with_a_rule_of_its_own():
    class Ruled:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return "asked"

    assert weir.add(Ruled(), 1) == "asked"  # functions ask from here on
    assert weir.from_dlpack(torch.ones(2)).tolist() == [1, 1]


TABLE_FROM_BEFORE = """
import torch

TABLE = {torch.Tensor.matmul: "matmul", torch.Tensor.add: "add", torch.Tensor.mul: "mul"}

class Operator:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return TABLE.get(func)

def asked():
    x = torch.ones(2, 2)
    return [x @ Operator(), x + Operator(), x * Operator(), x.add(Operator())]

before = asked()
torch.eye(2).to_sparse()
print(before == asked() == ["matmul", "add", "mul", "add"], torch.Tensor.add in TABLE)
"""


@pytest.mark.parametrize("subject", ["weir", "torch"])
def test_tables_from_before_the_first_sparse_tensor_hold(subject):
    """With which methods begin to ask whether an argument is sparse."""
    done = subprocess.run([sys.executable, "-c", TABLE_FROM_BEFORE.replace("import torch\n", f"import {subject} as torch\n")], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr


@pytest.mark.parametrize("call", [lambda x: torch.add(x, 1), lambda x: torch.nn.functional.relu(x), lambda x: torch.ones(2) + x, lambda x: torch.stack([x, x]),
                                  lambda x: torch.nn.Linear(2, 2)(x)])
def test_functions_of_another_framework_refuse_our_tensors(call):
    with pytest.raises(TypeError):
        call(weir.ones(2))


def of_class(t, name):
    """A subclass of Tensor whose rule accepts its own kind, and the calls it saw."""
    seen = []

    def rule(cls, func, types, args=(), kwargs=None):
        seen.append(func.__name__)
        return super(made, cls).__torch_function__(func, types, args, kwargs or {})
    made = type(name, (t.Tensor,), {"__torch_function__": classmethod(rule)})
    return made, seen


METHODS = """p.add(s)|p.mul_(s)|p.to(s)|p.where(p > 0, s)|p.view_as(s)|p.type_as(s)|p.expand_as(s)|p.copy_(s)|p.masked_fill(s > 5, 1)|p.dot(s)|p.lerp(s, 0.5)
p.clamp(min=s)|p.clamp(p, s)|p.index_put_((s.long().clamp(0, 2),), q)|p[s.long().clamp(0, 2)]|p.add(s, alpha=2)|p.add(q)|p + s|s + p|p == s|p.requires_grad_()
p.add(1)|p[None]|p.matmul(s)|p.split(2)|p.__setitem__(0, s[0])""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", METHODS)
def test_methods_of_plain_tensors_ask_their_arguments(text):
    found = []
    for t in (weir, torch):
        made, seen = of_class(t, "Own")
        names = {"p": t.ones(3), "q": t.ones(3), "s": t.ones(3).as_subclass(made)}
        found.append((type(eval(text, names)).__name__, [name.strip("_") for name in seen]))
    assert found[0] == found[1]


@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">="])
def test_operators_of_classes_that_do_not_go_together(op):
    words = []
    for t in (weir, torch):
        a, b = (t.ones(2).as_subclass(of_class(t, name)[0]) for name in ("Left", "Right"))
        with pytest.raises(TypeError) as refused:
            eval(f"a {op} b", {"a": a, "b": b})
        words.append(str(refused.value))
    assert words[0] == words[1]


def test_methods_of_classes_that_do_not_go_together():
    words = []
    for t in (weir, torch):
        a, b = (t.ones(2).as_subclass(of_class(t, name)[0]) for name in ("Left", "Right"))
        for call in (lambda: a.add(b), lambda: t.add(a, b), lambda: t.ones(2).add(a).add(b)):
            with pytest.raises(TypeError) as refused:
                call()
            words.append(str(refused.value))
    assert words[:3] == words[3:]


SET_BY_A_PROGRAM = """
import torch
torch.as_subclass = torch.Tensor.as_subclass  # as fastai does


class Own(torch.Tensor):
    def clone(self):
        return torch.as_subclass(self, torch.Tensor).clone().as_subclass(type(self))


print(type(torch.ones(2).as_subclass(Own).clone()).__name__, type(torch.as_subclass(torch.ones(2).as_subclass(Own), torch.Tensor)).__name__)
"""


def test_a_method_set_as_a_function_asks_for_no_rule():
    done = subprocess.run([sys.executable, "-c", SET_BY_A_PROGRAM.replace("import torch\n", "import weir as torch\n")], capture_output=True, text=True)
    assert done.stdout == "Own Tensor\n", done.stderr[-2000:]
