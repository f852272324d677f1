"""torch.func and torch.autograd.functional against PyTorch."""

import threading

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


def test_derivatives_of_other_threads_are_none_of_ours():
    found = []

    def meanwhile():
        found.append(weir.func.grad(lambda a: (a ** 2).sum())(weir.ones(3)))

    def slow(a):
        other = threading.Thread(target=meanwhile)
        other.start(), other.join()
        return (a ** 2).sum()

    weir.func.grad(slow)(weir.ones(3))
    assert not found[0].requires_grad


def test_functional_call_puts_the_parameters_back():
    model = weir.nn.Linear(2, 1)
    weight = model.weight
    weir.func.functional_call(model, {"weight": weir.zeros(1, 2)}, weir.ones(1, 2))
    assert model.weight is weight
    weir.func.functional_call(model, {"nothing": weir.zeros(1)}, weir.ones(1, 2))
    assert not hasattr(model, "nothing")
    with pytest.raises(RuntimeError, match="nothing"):
        weir.func.functional_call(model, {"nothing": weir.zeros(1)}, weir.ones(1, 2), strict=True)


WRONG = {
    "grad of several numbers": lambda t, x: t.func.grad(lambda a: a)(t.ones(2)),
    "vmap over no tensor": lambda t, x: t.func.vmap(lambda a: a)(3),
    "vmap over batches of other sizes": lambda t, x: t.func.vmap(lambda a, b: a)(t.ones(2), t.ones(3)),
    "vmap over an axis that is not there": lambda t, x: t.func.vmap(lambda a: a, in_dims=2)(t.ones(2)),
    "argnums twice": lambda t, x: t.func.grad(t.mul, argnums=(0, -2))(x, x),
    "argnums none": lambda t, x: t.func.jacfwd(t.sin, argnums=())(x),
    "argnums list": lambda t, x: t.func.grad(t.mul, argnums=[0])(x, x),
    "aux of numbers": lambda t, x: t.func.grad(lambda a: (a.sum(), 3), has_aux=True)(x),
    "vjp without a pair": lambda t, x: t.func.vjp(lambda a: [a, a], x, has_aux=True),
    "cotangents otherwise nested": lambda t, x: t.func.vjp(lambda a: (a, (a, a)), x)[1]((x, x, x)),
    "jacobian of nothing": lambda t, x: t.func.jacrev(lambda a: ())(x),
    "complex jacobian": lambda t, x: t.func.jacfwd(lambda a: a.conj())(x + 1j),
    "tangents otherwise nested": lambda t, x: t.func.jvp(lambda a, b: a * b, (x, x), ((x,), x)),
    "tangent of another shape": lambda t, x: t.func.jvp(t.sin, (x,), (x[:1],)),
    **{f"{name} of a linear function": lambda t, x, name=name: getattr(t.autograd.functional, name)(
        t.clone, x, *([x] if name != "jacobian" else []), create_graph=True, strict=True) for name in ("vjp", "jvp", "jacobian")},
    "hessian of a linear function": lambda t, x: t.autograd.functional.hessian(t.sum, x, strict=True),
    "independent of its input": lambda t, x: t.func.jvp(lambda a: x * 2, (x,), (x,), strict=True),
    "vmap by a list": lambda t, x: t.func.vmap(t.mul, [0, 0])(x, x),
    "vmap to a word": lambda t, x: t.func.vmap(t.sin, out_dims="first")(x),
    "parts of other kinds": lambda t, x: t.func.stack_module_state([t.nn.Linear(1, 1), t.nn.Linear(1, 1).requires_grad_(False)]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_pytorch_refuses_is_refused(name):
    with pytest.raises(Exception) as theirs:
        WRONG[name](torch, torch.ones(3))
    with pytest.raises(theirs.type):
        WRONG[name](weir, weir.ones(3))


NESTED = {
    "forward over backward": lambda t, x, v: t.func.jvp(t.func.grad(lambda a: (a.exp() * a).sum()), (x,), (v,)),
    "backward over forward": lambda t, x, v: t.func.grad(lambda a: t.func.jvp(lambda b: (b ** 3).sum() * b.exp(), (a,), (v,))[1].sum())(x),
    "forward over forward": lambda t, x, v: t.func.jvp(lambda a: t.func.jvp(lambda b: b.exp() * b, (a,), (v * a,))[1], (x,), (v,)),
    "of a batch": lambda t, x, v: t.func.vmap(lambda a, b: t.func.jvp(lambda c: (c.outer(c) @ a).cumsum(0), (a,), (b,))[1])(x.outer(v), v.outer(x)),
    "of batched tangents": lambda t, x, v: t.func.vmap(lambda b: t.func.jvp(lambda c: t.nn.functional.layer_norm(c, (4,)), (x,), (b,))[1])(v.outer(x)),
    "hessian of a net": lambda t, x, v: t.func.hessian(lambda w: t.nn.functional.softplus(t.nn.functional.conv1d(x[None, None], w[None, None])).pow(2).sum())(v[:3]),
    "jacfwd of jacfwd": lambda t, x, v: t.func.jacfwd(t.func.jacfwd(lambda a: (a.softmax(0) * v).sum()))(x),
    "jacrev row by row": lambda t, x, v: t.func.jacrev(lambda a: a.sin() * a.sum(), chunk_size=1)(x),
    "captured by an inner one": lambda t, x, v: t.func.jvp(lambda a: t.func.jvp(lambda b: a * b * b, (v,), (x,))[1], (x,), (v,)),
    "in place": lambda t, x, v: t.func.jvp(lambda a: a.clone().mul_(a).index_put_((t.tensor([0, 2]),), a[1:3] * a[0]), (x,), (v,)),
    "of inference tensors": lambda t, x, v: [t.func.grad(t.func.grad(lambda a: a ** 3))(y) for y in [inference(t, x)]],
    "functional.jacobian at once": lambda t, x, v: t.autograd.functional.jacobian(lambda a, b: (a.sin() * b.sum(), a.sum()), (x, v), vectorize=True),
    "functional.jacobian forward": lambda t, x, v: t.autograd.functional.jacobian(lambda a, b: (a.sin() * b.sum(), a.sum()), (x, v), vectorize=True,
                                                                                 strategy="forward-mode"),
    "functional.hessian forward": lambda t, x, v: t.autograd.functional.hessian(lambda a: (a.exp() * a).sum(), x, vectorize=True,
                                                                               outer_jacobian_strategy="forward-mode"),
}


def inference(t, x):
    with t.inference_mode():
        return (x * 2).sum()


@pytest.mark.parametrize("name", NESTED)
def test_derivatives_of_derivatives(name):
    torch.manual_seed(0)
    x, v = torch.randn(4, dtype=torch.float64), torch.randn(4, dtype=torch.float64)
    twins.assert_close(NESTED[name](weir, twins.to_weir(x), twins.to_weir(v)), NESTED[name](torch, x, v), 1e-8, 1e-10, name)


def test_jvp_leaves_no_history_and_no_tangent_behind():
    x, v = weir.ones(3), weir.ones(3)
    value, tangent = weir.func.jvp(weir.func.grad(lambda a: (a ** 3).sum()), (x,), (v,))
    assert not value.requires_grad and not tangent.requires_grad
    with weir.autograd.forward_ad.dual_level():
        assert all(weir.autograd.forward_ad.unpack_dual(t).tangent is None for t in (x, v, value, tangent))


@pytest.mark.parametrize("product", ["vjp", "jvp", "vhp", "hvp"])
def test_vectors_that_are_no_tensors_are_type_errors(product):
    for F in (torch, weir):
        with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
            getattr(F.autograd.functional, product)(lambda x: x.sum(), F.ones(4), (F.ones(4), 2))
