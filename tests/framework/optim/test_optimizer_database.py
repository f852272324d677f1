"""The optimizers of PyTorch's own database with their own options: 30 steps, a resume in the middle, state and refusals."""

import copy
import warnings

import numpy as np
import pytest
import torch
import weir
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db
from twins import to_numpy, to_weir

INFOS = {info.optim_cls.__name__: info for info in optim_db}
BACKENDS = ("foreach", "fused", "capturable")  # ways to compute, which change no result
STEPS = 30


def converted(value, memo):
    """Arguments for weir; a tensor that comes twice is one tensor there too."""
    if isinstance(value, torch.Tensor):
        if id(value) not in memo:
            own = to_weir(value.detach()).requires_grad_(value.requires_grad)
            memo[id(value)] = weir.nn.Parameter(own) if isinstance(value, torch.nn.Parameter) else own
        return memo[id(value)]
    if isinstance(value, dict):
        return {key: converted(item, memo) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(converted(item, memo) for item in value)
    return value


def closure(params):
    def run():
        for p in params:
            p.grad = None
        loss = sum(((p - 1) ** 2).sum() + (p**4).sum() for p in params)
        loss.backward()
        return loss
    return run


def curve(framework, name, params, options, grads):
    make = lambda: getattr(framework.optim, name)(params, **options)  # noqa: E731
    optimizer = make()
    for step in range(STEPS):
        if name == "LBFGS":
            optimizer.step(closure(params))
        else:
            for p, g in zip(params, grads[step]):
                p.grad = to_weir(g) if framework is weir else g.clone()
            optimizer.step()
        if step == STEPS // 2:
            state = copy.deepcopy(optimizer.state_dict())
            optimizer = make()
            optimizer.load_state_dict(state)
    return optimizer.state_dict()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("name", [name for name in INFOS if name != "SparseAdam"])
def test_steps(name, dtype):
    for sample in INFOS[name].optim_inputs_func(device="cpu", dtype=dtype):
        options = {key: value for key, value in sample.kwargs.items() if key not in BACKENDS}
        torch.manual_seed(0)
        shapes = [(4, 3)] if name == "Muon" else [(4, 3), (5,)]
        params = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
        grads = [[torch.randn_like(p) for p in params] for _ in range(STEPS)]
        own = [to_weir(p) for p in params]
        expected = curve(torch, name, params, copy.deepcopy(options), grads)
        actual = curve(weir, name, own, to_weir(options), grads)
        # Muon computes in bfloat16, LBFGS amplifies rounding.
        rtol = 5e-3 if name == "Muon" else 2e-5 if dtype == torch.float32 or name == "LBFGS" else 1e-12
        for a, e in zip(own, params):
            np.testing.assert_allclose(to_numpy(a), to_numpy(e), rtol=rtol, atol=rtol, err_msg=sample.desc)
        assert actual["param_groups"][0].keys() == expected["param_groups"][0].keys()
        for key, state in expected["state"].items():
            assert actual["state"][key].keys() == state.keys()


def test_sparse_adam_takes_no_dense_gradients():
    for framework in (torch, weir):
        p = framework.ones(3).requires_grad_()
        p.grad = framework.ones(3)
        with pytest.raises(RuntimeError, match="dense gradients"):
            framework.optim.SparseAdam([p]).step()


@pytest.mark.parametrize("name", INFOS)
def test_refusals(name):
    for case in INFOS[name].optim_error_inputs_func(device="cpu", dtype=torch.float64):
        sample = case.optimizer_error_input
        if case.error_on is not OptimizerErrorEnum.CONSTRUCTION_ERROR or "dense params" in sample.desc:
            continue  # sparse parameters cannot be made in weir
        with warnings.catch_warnings(), pytest.raises(case.error_type):
            warnings.simplefilter("error")
            getattr(weir.optim, name)(converted(sample.params, {}), **converted(sample.kwargs, {}))
            pytest.fail(f"accepted: {sample.desc}")
