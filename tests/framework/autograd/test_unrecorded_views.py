"""Views made where gradients are off: what PyTorch lets a program do with them later."""

import pytest
import torch
import weir

VIEWS = {"slice": lambda x: x[:2], "reshaped": lambda x: x.view(2, 2), "one of many": lambda x: x.unbind()[0],
         "of a view": lambda x: x[1:].unsqueeze(0)[0, :2]}
BASES = {"leaf": lambda t: t.ones(4, requires_grad=True), "result": lambda t: t.ones(4, requires_grad=True) * 2, "plain": lambda t: t.ones(4)}


def outcome(act):
    """What an action gives, or the class of its error."""
    try:
        return act()
    except Exception as error:
        return type(error).__name__


def told(v):
    return outcome(lambda: (v.requires_grad, v.is_leaf, v.grad_fn is None, v._is_view(), v.is_inference()))


def life_of_a_view(t, base, view, mode):
    """What can be done with a view made in `mode`, where nothing is recorded, once that ends."""
    def fresh():
        x = BASES[base](t)
        with getattr(t, mode)():
            return x, VIEWS[view](x)

    w = t.ones((), requires_grad=True)
    x, v = fresh()
    seen = [told(v), v._base is x, outcome(lambda: (v * w).requires_grad), told(v.view(-1)), told(v.detach())]
    for change in (lambda v: v.mul_(2), lambda v: v.mul_(w), lambda v: v.view(-1).mul_(w), lambda v: v.detach().mul_(2), lambda v: v.requires_grad_()):
        x, v = fresh()
        seen += [outcome(lambda: change(v).requires_grad), told(v), told(x)]
    x, v = fresh()
    with t.no_grad():
        v.mul_(2)
    seen += [told(v), outcome(lambda: (v * 2).requires_grad), x.tolist()]
    x, v = fresh()
    seen += [outcome(lambda: x.mul_(2).requires_grad), told(v), outcome(lambda: v.mul_(2).requires_grad)]
    x, v = fresh()
    outcome(lambda: (v * 3).sum().backward())
    return seen + [outcome(lambda: v.grad.tolist()), None if not x.is_leaf or x.grad is None else x.grad.tolist()]


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("base", BASES)
def test_a_view_made_where_nothing_is_recorded_is_a_leaf_that_may_not_be_written_to_later(base, view, mode):
    assert life_of_a_view(weir, base, view, mode) == life_of_a_view(torch, base, view, mode)


def test_a_view_requires_grad_as_soon_as_its_base_does():
    def ask(t):
        x = t.ones(4)
        v = x[:2]
        x.requires_grad_()
        seen = [told(v)]
        (v * 3).sum().backward()
        return seen + [v.grad, x.grad]
    assert ask(weir) == ask(torch)


def test_backward_from_an_unrecorded_view_is_refused_and_to_one_finds_nothing():
    for t in (torch, weir):
        x = t.ones(2, 2, requires_grad=True)
        with t.no_grad():
            v = x.view(-1)
        with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
            t.autograd.grad([v], [x], [t.ones(4)])
        assert t.autograd.grad([(x * 2).sum()], [v], allow_unused=True) == (None,)


def test_a_result_without_a_derivative_may_be_a_view():
    seen = []
    for t in (torch, weir):
        class Flat(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                flat = x.flatten()
                ctx.mark_non_differentiable(flat)
                return flat, x * 2

            @staticmethod
            def backward(ctx, _, g):
                return g * 2

        x = t.ones(2, 2, requires_grad=True)
        flat, twice = Flat.apply(x)
        seen.append((flat.requires_grad, flat.is_leaf, twice.requires_grad))
        with pytest.raises(RuntimeError, match="does not have a grad_fn"):
            t.autograd.grad([flat, twice], [x], [t.ones(4), t.ones(2, 2)])
    assert seen[0] == seen[1]


def test_an_unrecorded_view_of_a_changed_base_is_shown():
    for t in (torch, weir):
        base = t.ones(2, requires_grad=True) * 1
        with t.no_grad():
            view = base.view(-1)
        base.add_(1)
        assert repr(view) == "tensor([2., 2.], grad_fn=<Invalid>)"
        with pytest.raises(RuntimeError):
            del base.data


SHAPES = {"squeeze_": lambda v: v.squeeze_(()), "unsqueeze_": lambda v: v.unsqueeze_(0), "t_": lambda v: v.t_(), "transpose_": lambda v: v.transpose_(0, 1), "as_strided_": lambda v: v.as_strided_((2,), (1,))}
MADE = {"of a leaf": lambda t: t.ones(2, 3, requires_grad=True)[:], "of what repeats": lambda t: t.ones(3, requires_grad=True).expand(2, 3), "of a result": lambda t: (t.ones(2, 3, requires_grad=True) * 1)[:],
        "one of several": lambda t: (t.ones(2, 2, 3, requires_grad=True) * 1).unbind()[0], "a leaf": lambda t: t.ones(2, 3, requires_grad=True), "of numbers": lambda t: t.ones(2, 2, 3).unbind()[0],
        "detached": lambda t: t.ones(2, 3, requires_grad=True).detach(), "unrecorded": lambda t: t.no_grad()(lambda: t.ones(2, 3, requires_grad=True)[:])()}


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("name", SHAPES)
def test_the_shape_of_a_view_changes_in_place_where_its_numbers_may(name, made, recorded):
    def ask(t):
        v = MADE[made](t)
        with t.set_grad_enabled(recorded):
            return outcome(lambda: (lambda w: (tuple(w.shape), w.requires_grad, w._version))(SHAPES[name](v)))

    assert ask(weir) == ask(torch)
