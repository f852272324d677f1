"""Hooks of the graph, and where backward ends, against PyTorch."""

import threading

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


def of_some_tensors(t, mode):
    """What the hook is given in passes that reach some of the tensors, and in passes of several threads at once."""
    a, b, c = (t.full((2,), float(i), requires_grad=True) for i in (1, 2, 3))
    d, calls, lock = c.clone(), [], threading.Lock()

    def hook(grads):
        with lock:
            calls.append([None if g is None else g.tolist() for g in grads])
    t.autograd.graph.register_multi_grad_hook((a, b, d), hook if mode == "all" else lambda g: hook([g]), mode=mode)
    for inputs in ((a, b), (d,), (c,), None):
        (a * b * d).sum().backward(inputs=inputs)
    (a * a).sum().backward()
    y = (a * b).sum()
    threads = [threading.Thread(target=lambda: y.backward(retain_graph=True)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return calls


@pytest.mark.parametrize("mode", ["all", "any"])
def test_a_hook_on_tensors_of_which_some_are_reached(mode):
    assert of_some_tensors(weir, mode) == of_some_tensors(torch, mode)


def accumulated(t, inputs):
    """Gradients, the tensors that hold them, and the hooks that run where backward is told its inputs."""
    a, b = t.ones(2, requires_grad=True), t.full((2,), 3., requires_grad=True)
    c, calls = a * b, []
    a.grad = before = t.full((2,), 10.)
    a.register_post_accumulate_grad_hook(lambda p: calls.append(("accumulated", p.grad.tolist())))
    a.register_hook(lambda g: calls.append(("a", g.tolist())))
    c.register_hook(lambda g: calls.append(("c", g.tolist())))
    c.grad_fn.register_prehook(lambda g: calls.append("before"))
    c.grad_fn.register_hook(lambda i, o: calls.append("after"))
    places = {"a": a, "b": b, "c": c, "edge of a": t.autograd.graph.get_gradient_edge(a), "edge of c": t.autograd.graph.get_gradient_edge(c)}
    t.autograd.backward((c * 2).sum(), inputs=[places[name] for name in inputs])
    grads = [None if x.grad is None else x.grad.tolist() for x in (a, b)] + ([c.grad.tolist()] if "c" in inputs else [])
    return calls, grads, a.grad is before


@pytest.mark.parametrize("inputs", [["a"], ["a", "a"], ["c"], ["c", "b"], ["a", "b", "c"], ["edge of a"], ["edge of a", "b"], ["edge of c"]])
def test_backward_to_inputs(inputs):
    assert accumulated(weir, inputs) == accumulated(torch, inputs)


def of_unused_results(t):
    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x.clone(), x * 2

        @staticmethod
        def backward(ctx, first, second):
            return second

    calls, x = [], t.ones(3, requires_grad=True)
    parts = Two.apply(x)
    parts[0].register_hook(calls.append)
    parts[1].sum().backward()
    with t.no_grad():
        edge = t.autograd.graph.get_gradient_edge(x)
    return calls, x.grad.tolist(), edge.output_nr


def test_a_hook_where_no_gradient_came():
    assert of_unused_results(weir) == of_unused_results(torch)


def refused(t, name):
    a = t.ones(2, requires_grad=True)
    y = a * 1
    with pytest.raises((RuntimeError, ValueError)) as caught:
        if name == "pack":
            with t.autograd.graph.saved_tensors_hooks(lambda x: x.add_(1), lambda x: x):
                t.exp(t.ones(2, requires_grad=True))
        else:
            inputs = [a] if name == "unused" else [t.autograd.graph.get_gradient_edge(y)]
            t.autograd.grad((a * 2).sum(), inputs, materialize_grads=True, allow_unused=False if name == "unused" else None)
    return caught.type


@pytest.mark.parametrize("name", ["pack", "unused", "edge"])
def test_refusals(name):
    assert refused(weir, name) is refused(torch, name)


def test_saving_on_the_cpu():
    def gradient(t):
        with t.autograd.graph.save_on_cpu(pin_memory=True):
            a = t.full((3,), 2., requires_grad=True)
            (a * a).sum().backward()
        return a.grad.tolist()
    assert gradient(weir) == gradient(torch)
