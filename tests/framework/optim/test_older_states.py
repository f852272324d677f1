"""States of optimizers as older files hold them, with and without names: training goes on as in PyTorch."""

import copy

import numpy as np
import pytest
import torch
import weir

OPTIMIZERS = {"SGD": dict(lr=0.1, momentum=0.9), "Adam": dict(lr=0.1), "AdamW": dict(lr=0.1), "NAdam": dict(lr=0.1), "RAdam": dict(lr=0.1),
              "Adamax": dict(lr=0.1), "Adagrad": dict(lr=0.1), "Adadelta": dict(lr=0.1), "RMSprop": dict(lr=0.1, momentum=0.5), "Rprop": dict(lr=0.1),
              "ASGD": dict(lr=0.1), "Adafactor": dict(lr=0.1)}
NEW_FLAGS = ("amsgrad", "capturable", "differentiable", "foreach", "fused", "maximize", "nesterov", "decoupled_weight_decay")


def parameters(t):
    return [t.nn.Parameter(t.tensor([[1.0, -2.0], [3.0, 0.5]])), t.nn.Parameter(t.tensor([0.25, -1.0]))]


def train(t, optimizer, params, steps):
    for k in range(steps):
        for p in params:
            p.grad = t.cos(p.detach() * (k + 1))
        optimizer.step()


def continued(t, name, change, named=(False, False)):
    """The parameters after training, saving, `change` of what was saved, loading into a new optimizer and training on."""
    params = parameters(t)

    def make(with_names):
        given = list(zip(("w", "b"), params)) if with_names else params
        return getattr(t.optim, name)(given, **OPTIMIZERS[name])
    first = make(named[0])
    train(t, first, params, 2)
    saved = copy.deepcopy(first.state_dict())
    change(saved)
    second = make(named[1])
    second.load_state_dict(saved)
    train(t, second, params, 2)
    return [p.detach().numpy() for p in params], second.state_dict()["param_groups"][0].get("param_names")


def without_flags(saved):
    for group in saved["param_groups"]:
        for flag in NEW_FLAGS:
            group.pop(flag, None)


def steps_are_numbers(saved):
    for state in saved["state"].values():
        for key in ("step", "mu_product", "eta", "mu"):
            if hasattr(state.get(key), "item"):
                state[key] = state[key].item()


@pytest.mark.parametrize("name, change", [(name, change) for name in OPTIMIZERS for change in (without_flags, steps_are_numbers)
                                          if (name, change) != ("Adafactor", without_flags)])  # where PyTorch raises KeyError
def test_training_goes_on_from_an_older_state(name, change):
    ours, theirs = continued(weir, name, change), continued(torch, name, change)
    for a, b in zip(ours[0], theirs[0]):
        np.testing.assert_allclose(a, b, rtol=2e-6)


@pytest.mark.parametrize("named", [(True, False), (False, True), (True, True), (False, False)])
def test_names_of_parameters_are_kept(named):
    assert continued(weir, "SGD", lambda saved: None, named)[1] == continued(torch, "SGD", lambda saved: None, named)[1]


def test_an_optimizer_of_ones_own_completes_its_options():
    class Own(weir.optim.SGD):
        def __setstate__(self, state):
            super().__setstate__(state)
            for group in self.param_groups:
                group.setdefault("flavour", "plain")
    optimizer = Own(parameters(weir), lr=0.1)
    optimizer.load_state_dict(weir.optim.SGD(parameters(weir), lr=0.2).state_dict())
    assert optimizer.param_groups[0]["flavour"] == "plain" and optimizer.param_groups[0]["lr"] == 0.2
