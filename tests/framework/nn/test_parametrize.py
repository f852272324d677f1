"""Parametrizations, norms in both forms, pruning, functional_call and skip_init, with PyTorch's seeds and state."""

import copy
import warnings

import pytest
import torch
import torch.nn.utils.prune
import weir
from twins import assert_close, to_weir

warnings.simplefilter("ignore")
P = {
    "weight_norm": lambda f, m: f.nn.utils.parametrizations.weight_norm(m),
    "weight_norm of dim 1": lambda f, m: f.nn.utils.parametrizations.weight_norm(m, dim=1),
    "old weight_norm": lambda f, m: f.nn.utils.weight_norm(m),
    "old weight_norm of all": lambda f, m: f.nn.utils.weight_norm(m, dim=None),
    "spectral_norm": lambda f, m: f.nn.utils.parametrizations.spectral_norm(m, n_power_iterations=2),
    "old spectral_norm": lambda f, m: f.nn.utils.spectral_norm(m),
    "l1_unstructured": lambda f, m: f.nn.utils.prune.l1_unstructured(m, "weight", 0.4),
    "random_unstructured": lambda f, m: f.nn.utils.prune.random_unstructured(m, "weight", 3),
    "ln_structured": lambda f, m: f.nn.utils.prune.ln_structured(m, "weight", 0.5, 2, 0),
    "random_structured": lambda f, m: f.nn.utils.prune.random_structured(m, "weight", 1, 1),
    "twice pruned": lambda f, m: f.nn.utils.prune.ln_structured(f.nn.utils.prune.l1_unstructured(m, "weight", 2), "weight", 1, 1, 0),
    "globally pruned": lambda f, m: f.nn.utils.prune.global_unstructured(
        [(m, "weight"), (m, "bias")], f.nn.utils.prune.L1Unstructured, amount=5) or m,
}
REMOVE = {
    "weight_norm": lambda f, m: f.nn.utils.parametrize.remove_parametrizations(m, "weight"),
    "spectral_norm": lambda f, m: f.nn.utils.parametrize.remove_parametrizations(m, "weight"),
    "old weight_norm": lambda f, m: f.nn.utils.remove_weight_norm(m),
    "old spectral_norm": lambda f, m: f.nn.utils.remove_spectral_norm(m),
    "l1_unstructured": lambda f, m: f.nn.utils.prune.remove(m, "weight"),
    "twice pruned": lambda f, m: f.nn.utils.prune.remove(m, "weight")}


def compare_state(ours, theirs):
    own, state = ours.state_dict(), theirs.state_dict()
    assert list(own) == list(state)
    for key, value in state.items():
        assert_close(own[key], value, what=key)


@pytest.mark.parametrize("name", P)
def test_a_module_under_it(name):
    made = []
    for f in (torch, weir):
        f.manual_seed(3)
        made.append(P[name](f, f.nn.Linear(4, 3)))
    theirs, ours = made
    assert repr(ours) == repr(theirs)
    compare_state(ours, theirs)
    x = torch.randn(5, 4)
    for _ in range(2):
        expected, actual = theirs(x), ours(to_weir(x))
        assert_close(actual, expected)
        (expected**2).sum().backward(), (actual**2).sum().backward()
    for (key, a), e in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert_close(a.grad, e.grad, rtol=1e-3, atol=1e-4, what=key)
    compare_state(ours, theirs)
    ours.load_state_dict(to_weir(theirs.state_dict()))
    if name in REMOVE:
        REMOVE[name](torch, theirs), REMOVE[name](weir, ours)
        compare_state(ours, theirs)
        assert_close(ours(to_weir(x)), theirs(x))


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("orthogonal_map", [None, "matrix_exp", "cayley", "householder"])
def test_orthogonal(shape, orthogonal_map):
    for trivialization in (True, False):
        module = weir.nn.utils.parametrizations.orthogonal(weir.nn.Linear(*shape).double(), orthogonal_map=orthogonal_map,
                                                           use_trivialization=trivialization)
        w = module.weight
        gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
        assert_close(gram.detach(), torch.eye(min(shape), dtype=torch.float64), atol=1e-10)
        (w * weir.arange(w.numel()).view_as(w)).sum().backward()
        assert module.parametrizations.weight.original.grad is not None
        if trivialization:
            wanted = weir.linalg.qr(weir.randn(max(shape), min(shape)).double())[0]
            wanted = wanted if w.shape[0] >= w.shape[1] else wanted.T
            module.weight = wanted
            assert_close(module.weight.detach(), torch.from_numpy(wanted.numpy()), atol=1e-10)


def doubled(f):
    class Doubled(f.nn.Module):
        def forward(self, x):
            return 2 * x

        def right_inverse(self, y):
            return y / 2
    return Doubled()


def test_chains_caching_and_copies():
    made = []
    for f in (torch, weir):
        f.manual_seed(2)
        module = f.nn.Linear(3, 2)
        for _ in range(2):
            f.nn.utils.parametrize.register_parametrization(module, "weight", doubled(f))
        module.weight = f.ones(2, 3)
        made.append((module.weight.tolist(), module.parametrizations.weight.original.tolist(), type(module).__name__,
                     f.nn.utils.parametrize.type_before_parametrizations(module).__name__, copy.deepcopy(module).weight.tolist(),
                     f.nn.utils.parametrize.is_parametrized(module, "bias")))
        with f.nn.utils.parametrize.cached():
            assert module.weight is module.weight
        assert module.weight is not module.weight
        other = f.nn.utils.parametrize.transfer_parametrizations_and_params(module, f.nn.Linear(3, 2))
        assert other.weight.tolist() == made[-1][0]
        for wrong in (lambda: f.nn.utils.parametrize.register_parametrization(module, "none", doubled(f)),
                      lambda: f.nn.utils.parametrize.remove_parametrizations(module, "bias"),
                      lambda: f.nn.utils.parametrize.register_parametrization(f.nn.Linear(3, 2), "weight", f.nn.Flatten(0))):
            with pytest.raises(ValueError):
                wrong()
    assert made[0] == made[1]


def test_stateless_and_skip_init():
    module = weir.nn.Linear(2, 2)
    out = weir.nn.utils.stateless.functional_call(module, {"weight": weir.eye(2), "bias": weir.zeros(2)}, weir.ones(1, 2))
    assert out.tolist() == [[1.0, 1.0]]
    state = weir.get_rng_state()
    assert weir.nn.utils.skip_init(weir.nn.Linear, 3, 4).weight.shape == (4, 3)
    assert weir.equal(weir.get_rng_state(), state)
    with pytest.raises(RuntimeError):
        weir.nn.utils.skip_init(weir.nn.ReLU)


def test_lazy_state_loads_and_refuses():
    lazy, plain = weir.nn.LazyLinear(3), weir.nn.Linear(2, 3)
    with pytest.raises((RuntimeError, ValueError)):
        plain.load_state_dict(lazy.state_dict())
    lazy.load_state_dict(plain.state_dict())
    x = weir.randn(4, 2)
    assert weir.equal(lazy(x), plain(x)) and type(lazy) is weir.nn.Linear
    assert isinstance(copy.deepcopy(weir.nn.LazyConv2d(2, 3)).weight, weir.nn.UninitializedParameter)


def test_arithmetic_of_sequences():
    shown = []
    for f in (torch, weir):
        a, b = f.nn.Sequential(f.nn.Linear(1, 2)), f.nn.Sequential(f.nn.ReLU())
        kept, joined = a, a + b
        a += b
        a *= 2
        assert a is kept
        shown.append([repr(m) for m in (a, joined, b * 2, 3 * b)])
        for wrong, error in ((lambda: b * 0, ValueError), (lambda: b * 1.5, TypeError), (lambda: b + [1], ValueError)):
            with pytest.raises(error):
                wrong()
    assert shown[0] == shown[1]
