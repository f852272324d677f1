"""A hook on several tensors, against PyTorch."""

import pytest
import torch
import torch.autograd.graph  # noqa: F401
import weir


def seen(t, mode):
    """What the hook is given over three passes, the last after its removal."""
    a, b = t.ones(2, requires_grad=True), t.full((2,), 2., requires_grad=True)
    calls = []

    def hook(grads):
        calls.append([g.tolist() for g in grads] if mode == "all" else tuple(grads.shape))
    handle = t.autograd.graph.register_multi_grad_hook((a, b), hook, mode=mode)
    for _ in range(2):
        (a * b).sum().backward()
    handle.remove()
    (a * b).sum().backward()
    return calls


@pytest.mark.parametrize("mode", ["all", "any"])
def test_register_multi_grad_hook(mode):
    assert seen(weir, mode) == seen(torch, mode)


def test_wrong_mode():
    for t in (weir, torch):
        with pytest.raises(ValueError):
            t.autograd.graph.register_multi_grad_hook((), print, mode="some")
