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


def order_of_calls(t):
    """Callbacks run after the pass in which they were asked for, a nested one's before that of the outer."""
    calls, queue = [], t.autograd.Variable._execution_engine.queue_callback

    def of_inner(grad):
        queue(lambda: calls.append("inner"))

    def of_outer(grad):
        queue(lambda: [calls.append("first"), queue(lambda: calls.append("added"))])
        with t.enable_grad():
            y = t.ones(2, requires_grad=True)
            y.register_hook(of_inner)
            y.sum().backward()
        calls.append("hook")

    x = t.ones(2, requires_grad=True)
    x.register_hook(of_outer)
    x.register_post_accumulate_grad_hook(lambda p: calls.append("accumulated"))
    (x * 2).sum().backward()
    with pytest.raises(RuntimeError):
        queue(print)
    return calls


def test_callbacks_at_the_end_of_a_pass():
    assert order_of_calls(weir) == order_of_calls(torch)
