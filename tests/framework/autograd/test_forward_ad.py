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


def test_a_result_s_tangent_is_its_own():
    def program(t, ad):
        v = t.ones(3)
        with ad.dual_level():
            d = ad.make_dual(t.zeros(3), v)
            for same in (d.clone(), d + 0, -(-d)):
                same[0] = 5
            return [v, ad.unpack_dual(d).tangent]
    both(program)


def test_writes_reach_the_tangents_of_views_and_bases():
    def program(t, ad):
        found = []
        with ad.dual_level():
            d = ad.make_dual(t.arange(6.).reshape(2, 3), t.arange(6.).reshape(2, 3) / 7)
            x = d * 1
            row, column, flat = x[0], x[:, 1], x.view(-1)
            x.mul_(d)
            row[1] = 3
            column += d[:, 0]
            found += [ad.unpack_dual(y).tangent for y in (x, row, column, flat)]
            plain = t.zeros(2, 3)
            inner = plain[:, 1:]
            inner.copy_(d[:, :2])
            found += [ad.unpack_dual(y).tangent for y in (plain, inner)]
            plain.zero_()
            found += [ad.unpack_dual(y).tangent for y in (plain, inner)]
            y = d * 1
            y.t_()
            y.unsqueeze_(0)
            found += [ad.unpack_dual(y).tangent, ad.unpack_dual(d.T.exp_()).tangent, ad.unpack_dual(d).tangent]
        found.append(ad.unpack_dual(d).tangent)
        return found
    both(program)


def test_detached_tensors_have_no_tangent():
    def program(t, ad):
        with ad.dual_level():
            d = ad.make_dual(t.ones(2), t.ones(2))
            return [ad.unpack_dual(d.detach()).tangent, ad.unpack_dual(d.data).tangent, ad.unpack_dual(d.round()).tangent,
                    ad.unpack_dual((d > 0).float()).tangent]
    both(program)


@pytest.mark.parametrize("create", [False, True])
def test_gradients_of_duals_are_duals(create):
    def program(t, ad):
        x, v = t.tensor([1., 2., 3.], requires_grad=True), t.tensor([1., 0., -1.])
        with ad.dual_level():
            d = ad.make_dual(x, v)
            (g,) = t.autograd.grad(t.nn.functional.layer_norm(d ** 3, (3,)).pow(2).mul(t.arange(3.)).sum(), x, create_graph=create)
            return [g.detach(), ad.unpack_dual(g).tangent.detach()]
    both(program)


def test_out_is_refused():
    for t in (torch, weir):
        ad = t.autograd.forward_ad
        with ad.dual_level():
            d = ad.make_dual(t.ones(2), t.ones(2))
            with pytest.raises(RuntimeError):
                t.exp(d, out=t.empty(2))


@pytest.mark.parametrize("part", [lambda x: x[5:15], lambda x: x[1::2], lambda x: x[3:].view(1, 17).t()], ids=["rows", "steps", "transposed"])
def test_tangents_of_a_view_of_memory_around_its_input(part):
    found = []
    for t in (torch, weir):
        def window(v):
            return v.as_strided((2, 3), (1, 2), 0)
        base = t.arange(20.0)
        x = part(base)
        pulled = t.func.jvp(lambda v, t=t: t.func.vjp(window, v)[1](t.ones(2, 3))[0], (x,), (x,))[1]
        found.append([t.func.jvp(lambda b: window(part(b)), (base,), (base * 2,))[1].tolist(), t.func.jvp(window, (x,), (x * 2,))[1].tolist(),
                      t.func.jvp(lambda v: v.as_strided((2,), (3,), 10), (x,), (x + 1,))[1].tolist(), pulled.tolist()])
    assert found[0] == found[1]


def test_tangents_of_views_where_the_tangent_is_part_of_other_memory():
    found = []
    for t, ad in ((torch, torch.autograd.forward_ad), (weir, weir.autograd.forward_ad)):
        with ad.dual_level():
            x = ad.make_dual(t.ones(4), t.arange(10.0)[3:7])
            found.append([ad.unpack_dual(v).tangent.tolist() for v in (x.as_strided((2,), (2,), 1), x[1:], x.view(2, 2).t())])
    assert found[0] == found[1]


def test_tangents_of_gradients_through_a_write():
    found = []
    for t in (torch, weir):
        def pulled(x, t=t):
            return t.func.vjp(lambda v: (v * 1).clamp_(min=0).square_().sum(), x)[1](t.ones(()))[0]
        found.append(t.func.jvp(pulled, (t.tensor([1.0, -2.0, 3.0]),), (t.tensor([1.0, 1.0, 2.0]),))[1].tolist())
    assert found[0] == found[1]


def test_a_product_of_no_reflectors_has_tangents_of_zero():
    found = [t.func.jvp(lambda a, t=t: t.linalg.householder_product(a, t.zeros(0)), (t.ones(3, 2),), (t.ones(3, 2),))[1].tolist() for t in (torch, weir)]
    assert found[0] == found[1]


def test_tangents_of_what_is_filled_in_place():
    for name, *args in (("masked_fill_", [True, False], -2.0), ("index_fill_", 0, [0], 3.0), ("index_fill_", 0, [1], "x")):
        found = []
        for t in (torch, weir):
            x = t.tensor([3.0, 4.0])
            given = [t.tensor(a) if isinstance(a, list) else x.sum() if a == "x" else a for a in args]
            found.append([t.func.jvp(lambda v: getattr(v.clone() * 2, name)(*given), (x,), (x,))[1].tolist(),
                          t.func.jvp(lambda v: getattr((v.clone() * 2).view(1, 2)[0], name)(*given), (x,), (x,))[1].tolist()])
        assert found[0] == found[1], name


def test_tangents_stay_where_histories_do():
    for name in ("logical_and_", "logical_or_", "logical_xor_"):
        found = []
        for t in (torch, weir):
            x = t.tensor([3.0, 0.0])
            found.append([t.func.jvp(lambda v: getattr(v.clone(), name)(x), (x,), (x + 5,))[1].tolist(), t.func.vjp(lambda v: getattr(v.clone(), name)(x), x)[1](x)[0].tolist()])
        assert found[0] == found[1], name


def test_tangents_of_conjugated_tensors_that_repeat_elements():
    """PyTorch refuses such a dual: its answer is that of a copy."""
    found = []
    for t in (torch, weir):
        w = (t.arange(3.0) + 2j).reshape(3, 1, 1, 1).expand(3, 1, 2, 1).conj()
        x = t.ones(1, 1, 3, 3, dtype=t.complex64)
        found.append(t.func.jvp(lambda v, t=t: t.conv2d(x, v), (w.clone() if t is torch else w,), (w * 1j,))[1].tolist())
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_a_tensor_constructed_of_another_has_no_tangent():
    for f in (lambda t, v: t.tensor(v), lambda t, v: v.new_tensor(v), lambda t, v: t.tensor(v, dtype=t.float64)):
        found = [t.func.jvp(lambda v, t=t: f(t, v), (t.ones(2),), (t.ones(2),))[1].tolist() for t in (torch, weir)]
        assert found[0] == found[1] == [0.0, 0.0]
