"""Hooks around steps, also of optimizers that a program writes, beside PyTorch's."""
import pytest
import torch
import weir

LIBRARIES = pytest.mark.parametrize("t", [weir, torch], ids=["weir", "torch"])


def parameter(t):
    p = t.nn.Parameter(t.ones(2))
    p.grad = t.ones(2)
    return p


def hooked(t, optimizer):
    log = []
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append(("before", o is optimizer, len(args), sorted(kwargs))))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append(("after", len(args), sorted(kwargs))))
    return log


@LIBRARIES
def test_a_program_s_own_step_has_hooks(t):
    class Descent(t.optim.Optimizer):
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.data.sub_(p.grad * group["lr"])
            return "loss"

    p = parameter(t)
    optimizer = Descent([p], {"lr": 0.5})
    log = hooked(t, optimizer)
    assert optimizer.step() == "loss" and optimizer.step(closure=None) == "loss" and p.tolist() == [0, 0]
    assert log == [("before", True, 1, []), ("after", 1, []), ("before", True, 1, ["closure"]), ("after", 1, ["closure"])]


@LIBRARIES
def test_hooks_change_arguments(t):
    optimizer = t.optim.SGD([parameter(t)], lr=0.1)
    log = hooked(t, optimizer)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: 7), kwargs))
    assert optimizer.step() == 7 and log == [("before", True, 1, []), ("after", 2, [])]
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 5)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        optimizer.step()


@LIBRARIES
def test_an_optimizer_around_another(t):
    class Around(t.optim.Optimizer):
        def __init__(self, inner):
            self.inner = inner
            self._patch_step_function()

        @property
        def param_groups(self):
            return self.inner.param_groups

        def step(self, closure=None):
            return self.inner.step(closure)

    p = parameter(t)
    around = Around(t.optim.SGD([p], lr=1.0))
    if t is torch:  # which leaves its tables of hooks to __init__
        around._optimizer_step_pre_hooks = around._optimizer_step_post_hooks = {}
    around.step()
    assert p.tolist() == [0, 0]
