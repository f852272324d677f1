"""torch.func and torch.autograd.functional against PyTorch."""

import pytest
import torch
import torch.func
import twins
import weir
import weir.func

CALLS = {
    "grad": lambda t, x, v: t.func.grad(lambda a: (a.sin() * a).sum())(x),
    "grad of grad": lambda t, x, v: t.func.grad(lambda a: t.func.grad(lambda b: (b ** 3).sum())(a).sum())(x),
    "argnums and aux": lambda t, x, v: t.func.grad(lambda a, b: ((a * b).sum(), a + 1), argnums=(0, 1), has_aux=True)(x, v),
    "tree": lambda t, x, v: t.func.grad(lambda p: (p["a"] * p["b"][0]).sum())({"a": x, "b": [v]})["b"][0],
    "vjp": lambda t, x, v: t.func.vjp(lambda a: a.sin(), x)[1](v),
    "jvp": lambda t, x, v: t.func.jvp(lambda a: a.sin() * a.sum(), (x,), (v,)),
    "jacrev": lambda t, x, v: t.func.jacrev(lambda a: a.sin() * a.sum())(x),
    "jacfwd": lambda t, x, v: t.func.jacfwd(lambda a: a.sin() * a.sum())(x),
    "hessian": lambda t, x, v: t.func.hessian(lambda a: (a.sin() * a).sum())(x),
    "vmap": lambda t, x, v: t.func.vmap(lambda a, b: a * b.sum(), in_dims=(0, None))(x, v),
    "vmap of grad": lambda t, x, v: t.func.vmap(t.func.grad(lambda a: a ** 2 * 3))(x),
    "vmap out": lambda t, x, v: t.func.vmap(lambda a: (a.outer(v), a.sum()), in_dims=1, out_dims=(2, 0))(x.outer(v)),
    "per sample": lambda t, x, v: t.func.vmap(t.func.grad(lambda w, a: (w * a).sum() ** 2), in_dims=(None, 0))(x, x.outer(v)),
    "functional.hvp": lambda t, x, v: t.autograd.functional.hvp(lambda a: (a ** 3).sum(), x, v),
    "functional.jvp": lambda t, x, v: t.autograd.functional.jvp(lambda a: a ** 3, x, v),
    "functional.vjp": lambda t, x, v: t.autograd.functional.vjp(lambda a, b: (a * b, a.sum()), (x, v), (v, x[0])),
    "functional.hessian": lambda t, x, v: t.autograd.functional.hessian(lambda a, b: (a * a * b).sum(), (x, v)),
    "functional.jacobian": lambda t, x, v: t.autograd.functional.jacobian(lambda a: (a.sin(), a.sum()), x),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivative(name):
    torch.manual_seed(0)
    x, v = torch.randn(4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    twins.assert_close(CALLS[name](weir, twins.to_weir(x), twins.to_weir(v)), CALLS[name](torch, x, v), 1e-8, 1e-10, name)


def test_results_keep_history_of_what_is_outside_only():
    x, w = weir.ones(3), weir.ones(3, requires_grad=True)
    assert not weir.func.grad(lambda a: (a ** 2).sum())(x).requires_grad
    inside = weir.func.grad(lambda a: (a ** 2 * w).sum())(x)
    (g,) = weir.autograd.grad(inside.sum(), w)
    assert g.tolist() == [2.0, 2.0, 2.0]
    with weir.no_grad():
        assert weir.func.grad(lambda a: (a ** 2 * w).sum())(x).tolist() == [2.0, 2.0, 2.0]


def test_functional_call_puts_the_parameters_back():
    model = weir.nn.Linear(2, 1)
    weight = model.weight
    weir.func.functional_call(model, {"weight": weir.zeros(1, 2)}, weir.ones(1, 2))
    assert model.weight is weight
    weir.func.functional_call(model, {"nothing": weir.zeros(1)}, weir.ones(1, 2))
    assert not hasattr(model, "nothing")
    with pytest.raises(RuntimeError, match="nothing"):
        weir.func.functional_call(model, {"nothing": weir.zeros(1)}, weir.ones(1, 2), strict=True)


@pytest.mark.parametrize("call", [lambda f: f.func.grad(lambda a: a)(f.ones(2)), lambda f: f.func.vmap(lambda a: a)(3),
                                  lambda f: f.func.vmap(lambda a, b: a)(f.ones(2), f.ones(3)),
                                  lambda f: f.func.vmap(lambda a: a, in_dims=2)(f.ones(2))])
def test_wrong_use_raises_as_in_pytorch(call):
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(theirs.type):
        call(weir)
