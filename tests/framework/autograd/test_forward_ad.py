"""Dual numbers against PyTorch's forward mode."""

import pytest
import torch
import torch.autograd.forward_ad  # noqa: F401
import weir
from twins import assert_close


def both(program):
    ours, theirs = program(weir, weir.autograd.forward_ad), program(torch, torch.autograd.forward_ad)
    for a, b in zip(ours, theirs, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert_close(a, b)


def test_functions():
    def program(t, ad):
        x, v = t.tensor([[1., 2.], [3., 4.]]), t.tensor([[1., 0.], [-1., 2.]])
        with ad.dual_level():
            d = ad.make_dual(x, v)
            results = [(d**2).sin(), d @ d, d.sum(0), t.softmax(d, 1), t.linalg.inv(d), d * x, d.exp() + 1, d[0], t.cat([d, x]), d]
            return [ad.unpack_dual(r).tangent for r in results]
    both(program)


def test_two_duals_and_none():
    def program(t, ad):
        with ad.dual_level():
            a, b = ad.make_dual(t.ones(2), t.tensor([1., 2.])), ad.make_dual(t.full((2,), 3.), t.tensor([0., 1.]))
            primal, tangent = ad.unpack_dual(a * b)
            return primal, tangent, ad.unpack_dual(t.ones(2)).tangent
    both(program)


def test_a_module_with_dual_parameters():
    def program(t, ad):
        t.manual_seed(0)
        layer, x = t.nn.Linear(3, 2), t.ones(4, 3)
        params = {n: p for n, p in layer.named_parameters()}
        tangents = {n: t.ones_like(p) for n, p in params.items()}
        with ad.dual_level():
            for n, p in params.items():
                delattr(layer, n)
                setattr(layer, n, ad.make_dual(p, tangents[n]))
            return [ad.unpack_dual(layer(x).tanh()).tangent]
    both(program)


@pytest.mark.parametrize("t", [torch, weir])
def test_misuse(t):
    ad = t.autograd.forward_ad
    with pytest.raises(RuntimeError):
        ad.make_dual(t.ones(2), t.ones(2))
    with ad.dual_level():
        with pytest.raises(RuntimeError):
            ad.enter_dual_level()
        with pytest.raises(ValueError):
            ad.make_dual(t.ones(2).long(), t.ones(2).long())
    with pytest.raises(RuntimeError):
        ad.exit_dual_level()


@pytest.mark.parametrize("t", [torch, weir])
def test_a_dual_is_made_and_shown(t):
    ad = t.autograd.forward_ad
    with ad.dual_level():
        d = ad.make_dual(t.zeros(2), t.ones(2))
        assert str(d) == "tensor([0., 0.], tangent=tensor([1., 1.]))"
        for tangent in (d, t.ones(3)):
            with pytest.raises(RuntimeError):
                ad.make_dual(t.zeros(2), tangent)
        with pytest.raises(RuntimeError):
            ad.make_dual(d, t.ones(2))
        turned = ad.make_dual(t.zeros(2, 3), t.arange(6.).view(3, 2).T)
        assert ad.unpack_dual(turned.view(6)).tangent.tolist() == [0, 2, 4, 1, 3, 5]
        own = d.clone()
        own.detach_()
        assert ad.unpack_dual(own).tangent is None
    assert str(turned * 0) == str(t.zeros(2, 3))


def test_without_gradients():
    def program(t, ad):
        with ad.dual_level(), t.no_grad():
            d = ad.make_dual(t.ones(2), t.tensor([1., 2.]))
            return [ad.unpack_dual(d.exp() * d).tangent]
    both(program)
