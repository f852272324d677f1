"""`autograd.gradcheck` says of right and wrong gradients what PyTorch's says, of real and complex numbers, in every mode."""
import warnings

import pytest
import torch
import weir

SEED = torch.Generator().manual_seed(0)
X, Y = torch.randn(2, 3, dtype=torch.float64, generator=SEED), torch.randn(3, dtype=torch.float64, generator=SEED)
Z = torch.randn(3, dtype=torch.complex128, generator=SEED)


def inputs_of(t):
    return [t.from_numpy(v.numpy().copy()).requires_grad_() for v in (X, Y, Z)]


def functions(t):
    """Custom functions whose backward is wrong, each in its own way."""
    def function(name, forward, backward):
        return type(name, (t.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply

    def squared(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2

    def unmaterialized(ctx, x):
        ctx.set_materialize_grads(False)
        return x.clone()

    def cut(ctx, x):
        result = x * 2
        ctx.mark_non_differentiable(result)
        return result

    return {"factor": function("Factor", squared, lambda ctx, g: g * 3 * ctx.saved_tensors[0]),
            "constant": function("Constant", lambda ctx, x: x.clone(), lambda ctx, g: t.ones_like(g)),
            "undefined": function("Undefined", unmaterialized, lambda ctx, g: g * 1),
            "undefined minded": function("Minded", unmaterialized, lambda ctx, g: None if g is None else g * 1),
            "size": function("Size", lambda ctx, x: x.sum(), lambda ctx, g: g),
            "noise": function("Noise", lambda ctx, x: x.clone(), lambda ctx, g: g * (1 + 1e-7 * t.rand_like(g))),
            "cut": function("Cut", cut, lambda ctx, g: g)}


def calls(t):
    x, y, z = inputs_of(t)
    check, twice, wrong = t.autograd.gradcheck, t.autograd.gradgradcheck, functions(t)
    for mode in ({}, {"fast_mode": True}, {"check_forward_ad": True}, {"check_batched_grad": True}, {"raise_exception": False}):
        yield f"sin {mode}", lambda mode=mode: check(t.sin, (x,), **mode)
        yield f"several {mode}", lambda mode=mode: check(lambda a, b: (a * b, a.sum(), a.argmax()), (x, y), **mode)
        yield f"complex {mode}", lambda mode=mode: check(lambda c, a: (c.conj() * a, c.exp(), c.abs()), (z, y), **mode)
    for name, f in wrong.items():
        for mode in ({}, {"fast_mode": True}, {"raise_exception": False}, {"check_undefined_grad": False}, {"nondet_tol": 1e-3}):
            yield f"{name} {mode}", lambda f=f, mode=mode: check(f, (x,), **mode)
    for mode in ({}, {"fast_mode": True}, {"check_fwd_over_rev": True}, {"gen_non_contig_grad_outputs": True}, {"check_rev_over_rev": False}):
        yield f"second {mode}", lambda mode=mode: twice(lambda a, b: (a * b).sin(), (x, y), **mode)
        yield f"second complex {mode}", lambda mode=mode: twice(lambda c: c.exp(), (z,), **mode)
    yield "second given", lambda: twice(t.sin, (x,), t.ones(2, 3, dtype=t.float64, requires_grad=True))
    yield "second wrong", lambda: twice(wrong["factor"], (x,))
    for name, f in {"view": lambda a: a.view(-1), "same": lambda a: a, "in place": lambda a: a.clone().mul_(3), "detached": lambda a: a.detach() * 2,
                    "constant": lambda a: t.ones(2, dtype=t.float64)}.items():
        yield name, lambda f=f: check(f, (x,))
    for name, v in {"no grad": x.detach(), "single": x.detach().float().requires_grad_(), "empty": t.zeros(0, dtype=t.float64, requires_grad=True),
                    "expanded": t.ones(1, dtype=t.float64).expand(3).requires_grad_(), "scalar": t.ones((), dtype=t.float64, requires_grad=True),
                    "transposed": x.detach().clone().t().requires_grad_(), "of an op": x * 2}.items():
        yield f"input {name}", lambda v=v: check(t.sin, (v,))
    for off in ({"check_backward_ad": False}, {"check_backward_ad": False, "check_batched_grad": True}, {"check_batched_forward_grad": True}):
        yield f"nothing {off}", lambda off=off: check(t.sin, (x,), **off)
    yield "dtypes", lambda: check(lambda a, c: a * c, (y, z), check_grad_dtypes=True)
    yield "dtypes of nothing", lambda: check(lambda a: a * 2, (t.zeros(0, dtype=t.float64, requires_grad=True),), check_grad_dtypes=True)


def outcome(call):
    """What the call gives or raises, and how often it warns of single precision."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:  # every kind is compared with PyTorch's
            result = type(error).__name__
    return result, sum("double precision" in str(w.message) for w in seen)


@pytest.mark.parametrize("name", [name for name, _ in calls(torch)])
def test_says_what_pytorch_says(name):
    assert outcome(dict(calls(weir))[name]) == outcome(dict(calls(torch))[name])


def test_inputs_are_as_before():
    x, y, z = inputs_of(weir)
    weir.autograd.gradcheck(lambda a, b, c: a * b * c.abs(), (x, y, z))
    assert (x.detach().numpy() == X.numpy()).all() and (y.detach().numpy() == Y.numpy()).all() and (z.detach().numpy() == Z.numpy()).all()
