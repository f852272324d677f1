"""What others see of complex gradients holds their numbers, not the conjugates of these: results of grad, hooks and .grad. Source:
framework/autograd/engine.cpp."""

import pytest
import torch
import weir

FORMS = {"square": lambda t, x: x.square(), "tril": lambda t, x: t.tril(x), "mean": lambda t, x: x.mean(), "rsub": lambda t, x: 2 - x,
         "gather": lambda t, x: x.gather(0, t.zeros(1, 2, dtype=t.int64)), "exp": lambda t, x: x.exp()}


@pytest.mark.parametrize("name", FORMS)
def test_gradients_are_no_conjugate_views(name):
    def seen(t):
        x = t.tensor([[1 + 2j, 3 - 1j], [0.5j, 2]]).requires_grad_()
        hooked = []
        x.register_hook(lambda g: hooked.append((g.is_conj(), g.tolist())))
        y = FORMS[name](t, x)
        g = t.ones_like(y)
        found = t.autograd.grad(y, x, g, retain_graph=True)[0]
        y.backward(g)
        return found.is_conj(), x.grad.is_conj(), [conj for conj, _ in hooked], t.view_as_real(found).flatten().tolist()
    ours, theirs = seen(weir), seen(torch)
    assert ours[:3] == theirs[:3]
    assert ours[3] == pytest.approx(theirs[3], rel=1e-5)
