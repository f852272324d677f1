"""The old `functorch` package, against PyTorch's."""

import subprocess
import sys
import warnings
from importlib import import_module

import pytest
import torch
import weir


def both():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in (torch, weir):
            yield t, import_module(f"{t.__name__}._functorch.deprecated")


def model(t, buffers=True):
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4) if buffers else t.nn.Tanh())


def test_parameters_become_arguments():
    found = []
    for t, old in both():
        module = model(t, buffers=False)
        function, params = old.make_functional(module)
        x = t.arange(6.0).reshape(2, 3)
        gradients = old.grad(lambda p: function(p, x).sum())(params)
        assert params[0] is not module[0].weight and params[0].requires_grad and len(params) == 2
        found.append([torch.tensor(y.tolist()) for y in (function(params, x), *gradients)])
        with pytest.raises(RuntimeError, match="has buffers"):
            old.make_functional(model(t))
        with pytest.raises(Exception):
            function(params[:1], x)
    for theirs, ours in zip(*found):
        torch.testing.assert_close(ours, theirs)


def test_buffers_become_arguments_too():
    for t, old in both():
        module = model(t)
        function, params, buffers = old.make_functional_with_buffers(module, disable_autograd_tracking=True)
        assert not params[0].requires_grad and len(params) == 4 and len(buffers) == 3
        assert t.allclose(function(params, buffers, t.ones(2, 3)), module(t.ones(2, 3)))


def test_ensembles_are_stacked():
    for t, old in both():
        models = [t.nn.Linear(3, 2) for _ in range(4)]
        function, params, buffers = old.combine_state_for_ensemble(models)
        x = t.randn(5, 3)
        assert [tuple(p.shape) for p in params] == [(4, 2, 3), (4, 2)] and buffers == () and not params[0].requires_grad
        assert t.allclose(old.vmap(function, (0, 0, None))(params, buffers, x), t.stack([m(x) for m in models]), atol=1e-6)
        for wrong in ([], [models[0], model(t)], [models[0], t.nn.Linear(3, 2).eval()]):
            with pytest.raises(RuntimeError, match="combine_state_for_ensemble"):
                old.combine_state_for_ensemble(wrong)


def test_programs_import_it_by_its_name():
    program = "import functorch, torch; print(functorch.vmap(lambda x: x * 2)(torch.ones(2)).tolist())"
    done = subprocess.run([sys.executable, "-m", "weir", "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[2.0, 2.0]", done.stderr
